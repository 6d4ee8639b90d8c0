// One read of all that is needed to decide on a pull request, such that its parts agree: the pull request is read
// before the lists, and with them or after them, and a change in between makes the read be repeated (T45).
import { commitSha, pullNumber, type PullNumber } from '../change/ids.ts'
import type { RepositoryName, Review, Snapshot } from '../change/snapshot.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Counted, Present, PullSize } from '../ports/forge.ts'
import type { CommentMemory } from './comment-memory.ts'
import type { Octokit } from './github-app.ts'
import { toPerson, type Account } from './person.ts'
import { readAtOnce, type AtOnce, type JustRead } from './read-at-once.ts'
import { keepComments, readComments } from './read-comments.ts'
import type { RepositoryMemory } from './repository-memory.ts'
import { mostAtOnce, reviewState } from './shown-pull.ts'

export { toPerson } from './person.ts'

const attempts = 3

export interface ReadOptions {
  readonly appId?: number
  /** See CommentReader: what is remembered of comments is remembered for whoever looks for ours, too. */
  readonly login?: () => Promise<string>
  /** Absent: all comments are read. */
  readonly memory?: CommentMemory | undefined
  /** Ignores remembered comments, for a landing. */
  readonly anew?: boolean | undefined
  /** The most comments or reviews to read. */
  readonly most?: number | undefined
  /** Hears the pull request's size and is awaited before the rest is read. */
  readonly onCounted?: ((counted: Counted) => Promise<void>) | undefined
  /** Hears what of ours is on it, if the same requests tell that. */
  readonly onPresent?: ((present: Present) => void) | undefined
  /** Milliseconds on a monotonic clock. */
  readonly monotonic?: (() => number) | undefined
  /** Remembers facts about the repository. */
  readonly repositories?: RepositoryMemory | undefined
}

export async function readSnapshot(
  octokit: Octokit,
  repository: RepositoryName,
  pull: PullNumber,
  options: ReadOptions = {},
): Promise<Snapshot | null> {
  const { onCounted } = options
  const doing = `read pull request ${repository.owner}/${repository.name}#${pull}`
  const target = { owner: repository.owner, repo: repository.name }
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await readPull(octokit, target, pull)
      if (before === null) return null
      options.repositories?.keepId(repository, before.base.repo.node_id)
      // However long that takes: all that is read afterwards is held against `before`.
      if (attempt === 0) await onCounted?.({ author: toPerson(before.user), size: sizeOf(before) })
      const atOnce = attempt === 0 ? await readRest(octokit, repository, before, options) : undefined
      if (atOnce !== undefined) return toSnapshot(repository, before, atOnce)
      const lists = await readLists(octokit, repository, before, options)
      const after = await readPull(octokit, target, pull)
      if (after === null) return null
      const agrees =
        before.head.sha === after.head.sha &&
        before.base.ref === after.base.ref &&
        before.state === after.state &&
        before.comments === after.comments &&
        before.updated_at === after.updated_at
      if (agrees) return toSnapshot(repository, after, lists, options.most)
    }
  } catch (error) {
    throw toForgeError(error, doing)
  }
  throw new ForgeError('inconsistent', `${doing}: it kept changing while it was read`)
}

type PullView = NonNullable<Awaited<ReturnType<typeof readPull>>>
type Lists = Pick<Snapshot, 'reviews' | 'comments' | 'base'>

/** One request instead of four, and one more where it does not tell everything. */
async function readRest(
  octokit: Octokit,
  repository: RepositoryName,
  before: PullView,
  {
    appId = 0,
    login,
    most = Infinity,
    onPresent,
    repositories,
    memory,
    monotonic = () => performance.now(),
  }: ReadOptions,
): Promise<AtOnce | undefined> {
  if (login === undefined || commentsOf(before) > Math.min(most, mostAtOnce)) return undefined
  const readAt = monotonic()
  const found = await readAtOnce(octokit, repository, justRead(before), { appId, login })
  if (found === undefined) return undefined
  const { checks, reports, defaultBranch } = found
  const [comment, ...doubled] = reports
  keepComments({ repository, memory }, pullNumber(before.number), found.comments, comment?.id)
  if (defaultBranch !== undefined) repositories?.keepDefaultBranch(repository, defaultBranch)
  if (checks !== undefined)
    onPresent?.({
      head: commitSha(before.head.sha),
      checks,
      ...(comment && { comment }),
      ...(doubled.length > 0 && { doubled: doubled.map(({ id }) => id) }),
      readAt,
    })
  return found
}

async function readLists(
  octokit: Octokit,
  repository: RepositoryName,
  before: PullView,
  { appId = 0, login, memory, anew = false, most = Infinity }: ReadOptions,
): Promise<Lists> {
  const target = { owner: repository.owner, repo: repository.name }
  const pull = pullNumber(before.number)
  const isTalkative = commentsOf(before) > most
  const [reviews, comments, base] = await Promise.all([
    readReviews(octokit, { ...target, pull_number: pull }, most),
    isTalkative
      ? []
      : readComments({ octokit, repository, appId, login, memory }, pull, before.comments, anew),
    octokit.rest.git.getRef({ ...target, ref: `heads/${before.base.ref}` }),
  ])
  return { reviews: reviews.map(toReview), comments, base: commitSha(base.data.object.sha) }
}

function justRead(pull: PullView): JustRead {
  return {
    pull: pullNumber(pull.number),
    title: pull.title,
    state: stateOf(pull),
    draft: pull.draft === true,
    head: commitSha(pull.head.sha),
    baseRef: pull.base.ref,
    shownBase: commitSha(pull.base.sha),
    author: toPerson(pull.user),
    headRepository:
      pull.head.repo === null ? null : { owner: pull.head.repo.owner.login, name: pull.head.repo.name },
    labels: pull.labels.map((label) => label.name),
    comments: commentsOf(pull),
  }
}

function toSnapshot(
  repository: RepositoryName,
  pull: PullView,
  { reviews, comments, base }: Lists,
  most = Infinity,
): Snapshot {
  const { comments: _count, ...facts } = justRead(pull)
  const excess = excessOf(commentsOf(pull), reviews.length, most)
  return {
    repository,
    ...facts,
    openedAt: pull.created_at,
    base,
    reviews,
    comments,
    ...(excess !== undefined && { excess }),
    stacked: 'stack' in pull && pull.stack !== null && pull.stack !== undefined,
  }
}

const stateOf = ({ merged, state }: { merged: boolean; state: string }): Snapshot['state'] =>
  merged ? 'merged' : state === 'open' ? 'open' : 'closed'

async function readPull(octokit: Octokit, target: { owner: string; repo: string }, pull: PullNumber) {
  try {
    return (await octokit.rest.pulls.get({ ...target, pull_number: pull })).data
  } catch (error) {
    const failure = toForgeError(error, 'read the pull request')
    if (failure.code === 'not-found') return null
    throw failure
  }
}

function toReview(review: {
  id: number
  user: Account | null
  state: string
  commit_id?: string | null
  submitted_at?: string
}): Review {
  return {
    id: review.id,
    author: toPerson(review.user),
    state: reviewState(review.state),
    commit:
      typeof review.commit_id === 'string' && review.commit_id !== '' ? commitSha(review.commit_id) : null,
    submittedAt: review.submitted_at ?? '',
  }
}

function sizeOf(pull: {
  changed_files: number
  additions: number
  deletions: number
  comments: number
}): PullSize | undefined {
  const { changed_files: files, additions, deletions, comments } = pull
  return [files, additions, deletions, comments].every(Number.isSafeInteger)
    ? { files, lines: additions + deletions, comments }
    : undefined
}

/** A pull request that a list shows has no such number. */
function commentsOf({ comments = 0 }: { comments?: number }): number {
  return comments
}

/** Up to one page more than `most`: there is no number that tells how many there are. */
async function readReviews(
  octokit: Octokit,
  target: { owner: string; repo: string; pull_number: PullNumber },
  most: number,
) {
  let read = 0
  return octokit.paginate(octokit.rest.pulls.listReviews, { ...target, per_page: 100 }, ({ data }, done) => {
    read += data.length
    if (read > most) done()
    return data
  })
}

function excessOf(comments: number, reviews: number, most: number): string | undefined {
  const [what, count] = comments > most ? ['comments', comments] : ['reviews', reviews]
  return count > most
    ? `it has ${comments > most ? '' : 'more than '}${(comments > most ? count : most).toLocaleString('en')} ${what}; at most ${most.toLocaleString('en')} are read`
    : undefined
}
