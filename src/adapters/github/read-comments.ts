// Reads a pull request's comments, asking only for changed ones. GitHub's comment count reveals deletions.
import { z } from 'zod'
import { maxScannedCommentLines } from '../../pull-request/command.ts'
import { type PullNumber, toUserId } from '../../pull-request/ids.ts'
import {
  type PullComment,
  type RepositoryName,
  toPullRequestKey,
  type GitHubAccount,
} from '../../pull-request/snapshot.ts'
import { commentMarker } from '../../report/comment.ts'
import type { BotComment } from '../../ports/forge.ts'
import { catchNotFound } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import { splitIntoChunks } from './bot-check-runs.ts'
import type { CommentCache, CachedComments } from './github-cache.ts'

export interface GitHubApiAccount {
  readonly id: number
  readonly login: string
  readonly type?: string
}

export interface CommentReader {
  readonly octokit: Octokit
  readonly repository: RepositoryName
  readonly appId: number
  /**
   * The account under which the App writes, `catalog-bot[bot]`. If absent, comments for which GitHub doesn't name an
   * App don't count as the App's.
   */
  readonly login?: (() => Promise<string>) | undefined
  /** Absent: nothing is cached. */
  readonly cache?: CommentCache | undefined
  /** Milliseconds on a monotonic clock. Absent: the process's own. */
  readonly monotonic?: (() => number) | undefined
}

interface RestIssueComment {
  readonly id: number
  readonly node_id?: string
  readonly user: GitHubApiAccount | null
  readonly body?: string
  readonly created_at: string
  readonly updated_at: string
  readonly issue_url?: string
  readonly performed_via_github_app?: { readonly id?: number } | null
}

/** GitHub's lists can lag behind recent writes. */
const maxCommentListLagMs = 120_000

/**
 * All comments. `count`: the number of comments according to the pull request; if undefined, all are read. `skipCache`: ignores
 * cached comments.
 */
export async function readComments(
  reader: CommentReader,
  pull: PullNumber,
  count: number | undefined,
  skipCache: boolean,
): Promise<readonly PullComment[]> {
  const cached = skipCache ? undefined : reader.cache?.get(toPullRequestKey(reader.repository, pull))
  if (cached !== undefined && count !== undefined) {
    const since = await readCommentsUpdatedSince(reader, pull, cached)
    const now = since.comments.size > count ? await dropDeletedCommentsFromCache(reader, pull, since) : since
    if (now.comments.size === count) return [...now.comments.values()]
  }
  return [...(await readAllComments(reader, pull)).comments.values()]
}

/**
 * The App's own report on a pull request in its current state. Anyone can write the marker, so only comments that the
 * App wrote count (T56).
 */
export async function findBotComment(
  reader: CommentReader,
  pull: PullNumber,
): Promise<BotComment | undefined> {
  const { octokit, repository, cache } = reader
  const before = cache?.get(toPullRequestKey(reader.repository, pull))
  const cached = before && (await readCommentsUpdatedSince(reader, pull, before))
  const id = (cached ?? (await readAllComments(reader, pull))).own
  if (id === undefined) return undefined
  const target = { owner: repository.owner, repo: repository.name, comment_id: id }
  const data = (await catchNotFound(octokit.rest.issues.getComment(target)))?.data
  if (data && (await isBotComment(data, reader)) && data.issue_url.endsWith(`/issues/${pull}`))
    return { id, body: data.body ?? '', updatedAt: data.updated_at }
  // It was deleted, so other cached comments might be deleted, too.
  dropCachedComments(reader, pull)
  return undefined
}

/** All of the App's reports in order, without caching. A paused process can leave more than one. */
export async function findBotComments(
  reader: CommentReader,
  pull: PullNumber,
): Promise<readonly BotComment[]> {
  const own: BotComment[] = []
  for (const view of await listComments(reader, pull))
    if (await isBotComment(view, reader))
      own.push({ id: view.id, body: view.body ?? '', updatedAt: view.updated_at })
  return own.toSorted((a, b) => a.id - b.id)
}

/** The cached comments were wrong. */
export function dropCachedComments(reader: CommentReader, pull: PullNumber): void {
  reader.cache?.drop(toPullRequestKey(reader.repository, pull))
}

/** Caches all comments after they were read in another way. `own`: the App's own report among them. */
export function cacheComments(
  reader: Pick<CommentReader, 'repository' | 'cache'>,
  pull: PullNumber,
  comments: readonly PullComment[],
  own: number | undefined,
): void {
  const byId = new Map(comments.map((comment) => [comment.id, comment]))
  reader.cache?.set(toPullRequestKey(reader.repository, pull), { comments: byId, own })
}

async function readAllComments(
  reader: CommentReader,
  pull: PullNumber,
): Promise<Omit<CachedComments, 'readAt'>> {
  const read = await toCachedComments(reader, new Map(), await listComments(reader, pull))
  reader.cache?.set(toPullRequestKey(reader.repository, pull), read)
  return read
}

async function readCommentsUpdatedSince(reader: CommentReader, pull: PullNumber, cached: CachedComments) {
  const last = [...cached.comments.values()].reduce(
    (latest, { updatedAt }) => Math.max(latest, Date.parse(updatedAt)),
    0,
  )
  const since = new Date(Math.max(0, last - maxCommentListLagMs)).toISOString()
  const read = await toCachedComments(
    reader,
    cached.comments,
    await listComments(reader, pull, since),
    cached.own,
  )
  const now = { ...read, readAt: cached.readAt }
  reader.cache?.set(toPullRequestKey(reader.repository, pull), now)
  return now
}

/** GitHub takes at most 100 ids in one list. */
const maxCommentIdsPerNodesField = 100
const maxCommentIdsPerGraphqlQuery = 25 * maxCommentIdsPerNodesField
const existingCommentIdsSchema = z.record(z.string(), z.array(z.object({ id: z.string() }).nullable()))

/**
 * Omits the comments that no longer exist on GitHub. One request checks 2,500 comments, but reading them all again
 * costs one request for each hundred. Never rejects: the caller compares the count, and reads them all if it still
 * differs.
 */
async function dropDeletedCommentsFromCache(
  { octokit, repository, cache }: CommentReader,
  pull: PullNumber,
  cached: CachedComments,
): Promise<CachedComments> {
  const deletedIds = new Set<string>()
  const nodes = [...cached.comments.values()].flatMap(({ node }) => node ?? [])
  for (const ids of splitIntoChunks(nodes, maxCommentIdsPerGraphqlQuery)) {
    const lists = Object.fromEntries(
      splitIntoChunks(ids, maxCommentIdsPerNodesField).map((list, at) => [`l${at}`, list]),
    )
    const names = Object.keys(lists)
    const query = `query CommentsThatExist(${names.map((name) => `$${name}: [ID!]!`).join(', ')}) {
  ${names.map((name) => `${name}: nodes(ids: $${name}) { id }`).join('\n  ')}
}`
    const answer = await octokit
      .graphql<unknown>(query, lists)
      // GitHub lists an error beside the data for each id that it doesn't have.
      .catch((error: unknown) => (error as { data?: unknown }).data)
    const existingIds = existingCommentIdsSchema.safeParse(answer).data ?? {}
    for (const [name, list] of Object.entries(lists))
      for (const [at, node] of list.entries()) if (existingIds[name]?.[at] === null) deletedIds.add(node)
  }
  const comments = new Map(
    [...cached.comments].filter(([, { node }]) => node === undefined || !deletedIds.has(node)),
  )
  const own = cached.own !== undefined && comments.has(cached.own) ? cached.own : undefined
  const remaining = { comments, own, readAt: cached.readAt }
  cache?.set(toPullRequestKey(repository, pull), remaining)
  return remaining
}

async function toCachedComments(
  reader: CommentReader,
  known: ReadonlyMap<number, PullComment>,
  views: readonly RestIssueComment[],
  own?: number,
): Promise<Omit<CachedComments, 'readAt'>> {
  const comments = new Map(known)
  for (const view of views) {
    comments.set(view.id, toPullComment(view))
    if (own === undefined && (await isBotComment(view, reader))) own = view.id
  }
  return { comments, own }
}

function listComments(
  { octokit, repository }: CommentReader,
  pull: PullNumber,
  since?: string,
): Promise<readonly RestIssueComment[]> {
  return octokit.paginate(octokit.rest.issues.listComments, {
    owner: repository.owner,
    repo: repository.name,
    issue_number: pull,
    per_page: 100,
    ...(since !== undefined && { since }),
  })
}

/**
 * Whether the App wrote it. GitHub doesn't always report which App wrote a comment (some servers never do). In that
 * case, the author must be the App's bot account, whose name no user and no other App can have.
 */
async function isBotComment(
  view: Pick<RestIssueComment, 'body' | 'performed_via_github_app' | 'user'>,
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

function toPullComment(view: RestIssueComment): PullComment {
  return {
    id: view.id,
    ...(view.node_id !== undefined && { node: view.node_id }),
    author: toGitHubAccountOrNull(view.user),
    body: extractLinesSearchedForCommands(view.body ?? ''),
    createdAt: view.created_at,
    updatedAt: view.updated_at,
  }
}

/** Longer first lines can't be a command. */
const maxCharsSearchedForCommands = 8192

/**
 * The lines that can contain a command; the rest of a comment of 64 KB is dropped. A line that is cut in the middle
 * could look like another command.
 */
export function extractLinesSearchedForCommands(body: string): string {
  const lines = body.slice(0, maxCharsSearchedForCommands).split(/\r\n|\n|\r/)
  if (lines.length > maxScannedCommentLines) return lines.slice(0, maxScannedCommentLines).join('\n')
  return body.length > maxCharsSearchedForCommands ? '' : body
}

/** Null accounts ("ghost") stay null, because no one has their rights. */
export function toGitHubAccountOrNull(account: GitHubApiAccount | null | undefined): GitHubAccount | null {
  if (account === null || account === undefined) return null
  return { id: toUserId(account.id), login: account.login, kind: account.type === 'Bot' ? 'bot' : 'user' }
}
