// Reads a pull request's comments, asking only for changed ones. GitHub's comment count reveals deletions.
import { z } from 'zod'
import { linesRead } from '../change/command.ts'
import type { PullNumber } from '../change/ids.ts'
import type { Comment, RepositoryName } from '../change/snapshot.ts'
import { pullKey } from '../change/repository-key.ts'
import { commentMarker } from '../messages/report.ts'
import type { OwnComment } from '../ports/forge.ts'
import type { CommentMemory, KeptComments } from './comment-memory.ts'
import type { Octokit } from './github-app.ts'
import { chunks } from './own-checks.ts'
import { toPerson, type Account } from './person.ts'

export interface CommentReader {
  readonly octokit: Octokit
  readonly repository: RepositoryName
  readonly appId: number
  /**
   * The account under which our App writes, `catalog-bot[bot]`. Absent: what GitHub does not say is from which App is not
   * taken for ours.
   */
  readonly login?: (() => Promise<string>) | undefined
  /** Absent: nothing is remembered. */
  readonly memory?: CommentMemory | undefined
  /** Milliseconds on a monotonic clock. Absent: the process's own. */
  readonly monotonic?: (() => number) | undefined
}

interface CommentView {
  readonly id: number
  readonly node_id?: string
  readonly user: Account | null
  readonly body?: string
  readonly created_at: string
  readonly updated_at: string
  readonly issue_url?: string
  readonly performed_via_github_app?: { readonly id?: number } | null
}

/** GitHub's lists can lag behind recent writes. */
const lag = 120_000

/**
 * All comments. `count`: how many there are, by the pull request itself; undefined where it does not say: then all are
 * read. `anew`: nothing remembered counts.
 */
export async function readComments(
  reader: CommentReader,
  pull: PullNumber,
  count: number | undefined,
  anew: boolean,
): Promise<readonly Comment[]> {
  const kept = anew ? undefined : reader.memory?.get(pullKey(reader.repository, pull))
  if (kept !== undefined && count !== undefined) {
    const since = await readSince(reader, pull, kept)
    const now = since.comments.size > count ? await withoutDeleted(reader, pull, since) : since
    if (now.comments.size === count) return [...now.comments.values()]
  }
  return [...(await readAll(reader, pull)).comments.values()]
}

/** Our own report on a pull request, as it is now. Anyone can write our marker: only what our App wrote is ours (T56). */
export async function findOwnComment(
  reader: CommentReader,
  pull: PullNumber,
): Promise<OwnComment | undefined> {
  const { octokit, repository, memory } = reader
  const before = memory?.get(pullKey(reader.repository, pull))
  const kept = before && (await readSince(reader, pull, before))
  const id = (kept ?? (await readAll(reader, pull))).own
  if (id === undefined) return undefined
  try {
    const { data } = await octokit.rest.issues.getComment({
      owner: repository.owner,
      repo: repository.name,
      comment_id: id,
    })
    if ((await isOwn(data, reader)) && data.issue_url.endsWith(`/issues/${pull}`))
      return { id, body: data.body ?? '', updatedAt: data.updated_at }
  } catch (error) {
    if ((error as { status?: unknown }).status !== 404) throw error
  }
  // It was deleted, so other remembered comments may be gone, too.
  forgetComments(reader, pull)
  return undefined
}

/** All our reports in order, read fresh. A paused process can leave more than one. */
export async function findOwnComments(
  reader: CommentReader,
  pull: PullNumber,
): Promise<readonly OwnComment[]> {
  const own: OwnComment[] = []
  for (const view of await list(reader, pull))
    if (await isOwn(view, reader))
      own.push({ id: view.id, body: view.body ?? '', updatedAt: view.updated_at })
  return own.toSorted((a, b) => a.id - b.id)
}

/** The remembered comments were wrong. */
export function forgetComments(reader: CommentReader, pull: PullNumber): void {
  reader.memory?.forget(pullKey(reader.repository, pull))
}

/** Remembers all of them, where they were read otherwise. `own`: our own report among them. */
export function keepComments(
  reader: Pick<CommentReader, 'repository' | 'memory'>,
  pull: PullNumber,
  comments: readonly Comment[],
  own: number | undefined,
): void {
  const byId = new Map(comments.map((comment) => [comment.id, comment]))
  reader.memory?.set(pullKey(reader.repository, pull), { comments: byId, own })
}

async function readAll(reader: CommentReader, pull: PullNumber): Promise<Omit<KeptComments, 'readAt'>> {
  const read = await taken(reader, new Map(), await list(reader, pull))
  reader.memory?.set(pullKey(reader.repository, pull), read)
  return read
}

async function readSince(reader: CommentReader, pull: PullNumber, kept: KeptComments) {
  const last = [...kept.comments.values()].reduce(
    (latest, { updatedAt }) => Math.max(latest, Date.parse(updatedAt)),
    0,
  )
  const since = new Date(Math.max(0, last - lag)).toISOString()
  const read = await taken(reader, kept.comments, await list(reader, pull, since), kept.own)
  const now = { ...read, readAt: kept.readAt }
  reader.memory?.set(pullKey(reader.repository, pull), now)
  return now
}

/** GitHub takes at most 100 ids in one list. */
const idsPerList = 100
const idsPerQuery = 25 * idsPerList
const existing = z.record(z.string(), z.array(z.object({ id: z.string() }).nullable()))

/**
 * Without the comments that GitHub doesn't have any more. One request tells that of 2,500 comments; reading them all again
 * costs one for each hundred. Never rejects: the caller compares the count, and reads them all if it still differs.
 */
async function withoutDeleted(
  { octokit, repository, memory }: CommentReader,
  pull: PullNumber,
  kept: KeptComments,
): Promise<KeptComments> {
  const gone = new Set<string>()
  const nodes = [...kept.comments.values()].flatMap(({ node }) => node ?? [])
  for (const ids of chunks(nodes, idsPerQuery)) {
    const lists = Object.fromEntries(chunks(ids, idsPerList).map((list, at) => [`l${at}`, list]))
    const names = Object.keys(lists)
    const query = `query CommentsThatExist(${names.map((name) => `$${name}: [ID!]!`).join(', ')}) {
  ${names.map((name) => `${name}: nodes(ids: $${name}) { id }`).join('\n  ')}
}`
    const answer = await octokit
      .graphql<unknown>(query, lists)
      // GitHub lists an error beside the data for each id that it doesn't have.
      .catch((error: unknown) => (error as { data?: unknown }).data)
    const found = existing.safeParse(answer).data ?? {}
    for (const [name, list] of Object.entries(lists))
      for (const [at, node] of list.entries()) if (found[name]?.[at] === null) gone.add(node)
  }
  const comments = new Map([...kept.comments].filter(([, { node }]) => node === undefined || !gone.has(node)))
  const own = kept.own !== undefined && comments.has(kept.own) ? kept.own : undefined
  const left = { comments, own, readAt: kept.readAt }
  memory?.set(pullKey(repository, pull), left)
  return left
}

async function taken(
  reader: CommentReader,
  known: ReadonlyMap<number, Comment>,
  views: readonly CommentView[],
  own?: number,
): Promise<Omit<KeptComments, 'readAt'>> {
  const comments = new Map(known)
  for (const view of views) {
    comments.set(view.id, toComment(view))
    if (own === undefined && (await isOwn(view, reader))) own = view.id
  }
  return { comments, own }
}

function list(
  { octokit, repository }: CommentReader,
  pull: PullNumber,
  since?: string,
): Promise<readonly CommentView[]> {
  return octokit.paginate(octokit.rest.issues.listComments, {
    owner: repository.owner,
    repo: repository.name,
    issue_number: pull,
    per_page: 100,
    ...(since !== undefined && { since }),
  })
}

/**
 * Whether our App wrote it. GitHub does not always say which App wrote a comment (some servers never do): then our bot's
 * account tells it, whose name no person and no other App can have. What another App wrote is never ours.
 */
async function isOwn(
  view: Pick<CommentView, 'body' | 'performed_via_github_app' | 'user'>,
  { appId, login }: CommentReader,
): Promise<boolean> {
  if (view.body?.startsWith(commentMarker) !== true) return false
  const via = view.performed_via_github_app?.id
  if (via !== undefined) return via === appId
  const { user } = view
  return (
    user?.type === 'Bot' && login !== undefined && user.login.toLowerCase() === (await login()).toLowerCase()
  )
}

function toComment(view: CommentView): Comment {
  return {
    id: view.id,
    ...(view.node_id !== undefined && { node: view.node_id }),
    author: toPerson(view.user),
    body: opening(view.body ?? ''),
    createdAt: view.created_at,
    updatedAt: view.updated_at,
  }
}

/** Longer first lines can't be a command. */
const longestOpening = 8192

/**
 * The lines in which a command can stand: the rest of a comment of 64 KB is not kept. What is cut in the middle of them
 * could look like another command, and is none.
 */
export function opening(body: string): string {
  const lines = body.slice(0, longestOpening).split(/\r\n|\n|\r/)
  if (lines.length > linesRead) return lines.slice(0, linesRead).join('\n')
  return body.length > longestOpening ? '' : body
}
