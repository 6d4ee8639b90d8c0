// Reads everything needed to decide on a pull request, such that its parts agree. The pull request is read
// before the lists and again with or after them, and a change in between repeats the read (T45).
import { toCommitSha, toPullNumber, type PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName, PullReview, PullSnapshot } from '../../pull-request/snapshot.ts'
import { catchNotFound, ForgeError, toForgeError } from './forge-error.ts'
import type { PullAuthorAndSize, BotCommentAndCheckRuns, PullSize } from '../../ports/forge.ts'
import type { CommentCache, RepositoryCache } from './github-cache.ts'
import type { Octokit } from './github-app.ts'
import type { RepositoryParams } from './bot-issues.ts'
import { cacheComments, readComments, toGitHubAccountOrNull, type GitHubApiAccount } from './read-comments.ts'
import { readPullDetails, type PullDetails, type RestPullFields } from './read-pull-details.ts'
import { maxNodesPerPullConnection, toReviewState } from './graphql-pull.ts'

const maxSnapshotReadAttempts = 3

export interface PullSnapshotReadOptions {
  readonly appId?: number
  /** See CommentReader: cached comments are also used to find the App's own comment. */
  readonly login?: () => Promise<string>
  /** Absent: all comments are read. */
  readonly commentCache?: CommentCache | undefined
  /** Ignores cached comments, for a merge. */
  readonly skipCache?: boolean | undefined
  /** The maximum number of comments or reviews to read. */
  readonly maxEntries?: number | undefined
  /** Called with the pull request's size, and awaited before the rest is read. */
  readonly onCounts?: ((counted: PullAuthorAndSize) => Promise<void>) | undefined
  /** Receives the App's own reports on it, if the same requests return them. */
  readonly onOwnReports?: ((present: BotCommentAndCheckRuns) => void) | undefined
  /** Milliseconds on a monotonic clock. */
  readonly monotonic?: (() => number) | undefined
  /** Caches facts about the repository. */
  readonly repositoryCache?: RepositoryCache | undefined
}

export async function readPullRequestSnapshot(
  octokit: Octokit,
  repository: RepositoryName,
  pull: PullNumber,
  options: PullSnapshotReadOptions = {},
): Promise<PullSnapshot | null> {
  const { onCounts } = options
  const doing = `read pull request ${repository.owner}/${repository.name}#${pull}`
  const target = { owner: repository.owner, repo: repository.name }
  try {
    for (let attempt = 0; attempt < maxSnapshotReadAttempts; attempt++) {
      const before = await readPullRequest(octokit, target, pull)
      if (before === undefined) return null
      options.repositoryCache?.setId(repository, before.base.repo.node_id)
      // This may take any time, because everything that is read afterwards is compared with `before`.
      if (attempt === 0)
        await onCounts?.({ author: toGitHubAccountOrNull(before.user), size: toPullDiffSize(before) })
      const atOnce =
        attempt === 0 ? await tryReadPullDetails(octokit, repository, before, options) : undefined
      if (atOnce !== undefined) return toPullSnapshot(repository, before, atOnce)
      const lists = await readPullReviewsCommentsAndBase(octokit, repository, before, options)
      const after = await readPullRequest(octokit, target, pull)
      if (after === undefined) return null
      const agrees =
        before.head.sha === after.head.sha &&
        before.base.ref === after.base.ref &&
        before.state === after.state &&
        before.comments === after.comments &&
        before.updated_at === after.updated_at
      if (agrees) return toPullSnapshot(repository, after, lists, options.maxEntries)
    }
  } catch (error) {
    throw toForgeError(error, doing)
  }
  throw new ForgeError('inconsistent', `could not ${doing}: the pull request kept changing`)
}

type RestPullRequest = NonNullable<Awaited<ReturnType<typeof readPullRequest>>>
type PullReviewsCommentsAndBase = Pick<PullSnapshot, 'reviews' | 'comments' | 'base'>

/** One request instead of four, plus another one if the first answer is incomplete. */
async function tryReadPullDetails(
  octokit: Octokit,
  repository: RepositoryName,
  before: RestPullRequest,
  options: PullSnapshotReadOptions,
): Promise<PullDetails | undefined> {
  const {
    appId = 0,
    login,
    maxEntries = Infinity,
    onOwnReports,
    repositoryCache,
    commentCache: cache,
    monotonic = () => performance.now(),
  } = options
  if (login === undefined || getCommentCount(before) > Math.min(maxEntries, maxNodesPerPullConnection))
    return undefined
  const readAt = monotonic()
  const details = await readPullDetails(octokit, repository, parseRestPullRequest(before), { appId, login })
  if (details === undefined) return undefined
  const { checks, reports, defaultBranch } = details
  const [comment, ...doubled] = reports
  cacheComments({ repository, cache }, toPullNumber(before.number), details.comments, comment?.id)
  if (defaultBranch !== undefined) repositoryCache?.setDefaultBranch(repository, defaultBranch)
  if (checks !== undefined)
    onOwnReports?.({
      head: toCommitSha(before.head.sha),
      checks,
      ...(comment && { comment }),
      ...(doubled.length > 0 && { duplicates: doubled.map(({ id }) => id) }),
      readAt,
    })
  return details
}

async function readPullReviewsCommentsAndBase(
  octokit: Octokit,
  repository: RepositoryName,
  before: RestPullRequest,
  options: PullSnapshotReadOptions,
): Promise<PullReviewsCommentsAndBase> {
  const { appId = 0, login, commentCache: cache, skipCache = false, maxEntries = Infinity } = options
  const target = { owner: repository.owner, repo: repository.name }
  const pull = toPullNumber(before.number)
  const isTalkative = getCommentCount(before) > maxEntries
  const [reviews, comments, base] = await Promise.all([
    readPullReviews(octokit, { ...target, pull_number: pull }, maxEntries),
    isTalkative
      ? []
      : readComments({ octokit, repository, appId, login, cache }, pull, before.comments, skipCache),
    octokit.rest.git.getRef({ ...target, ref: `heads/${before.base.ref}` }),
  ])
  return { reviews: reviews.map(toPullReview), comments, base: toCommitSha(base.data.object.sha) }
}

function parseRestPullRequest(pull: RestPullRequest): RestPullFields {
  return {
    pull: toPullNumber(pull.number),
    title: pull.title,
    state: toPullState(pull),
    draft: pull.draft === true,
    head: toCommitSha(pull.head.sha),
    baseRef: pull.base.ref,
    shownBase: toCommitSha(pull.base.sha),
    author: toGitHubAccountOrNull(pull.user),
    headRepository:
      pull.head.repo === null ? null : { owner: pull.head.repo.owner.login, name: pull.head.repo.name },
    labels: pull.labels.map((label) => label.name),
    comments: getCommentCount(pull),
  }
}

function toPullSnapshot(
  repository: RepositoryName,
  pull: RestPullRequest,
  { reviews, comments, base }: PullReviewsCommentsAndBase,
  maxEntries = Infinity,
): PullSnapshot {
  const { comments: _count, ...facts } = parseRestPullRequest(pull)
  const excess = formatTooManyCommentsMessage(getCommentCount(pull), reviews.length, maxEntries)
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

const toPullState = ({ merged, state }: { merged: boolean; state: string }): PullSnapshot['state'] =>
  merged ? 'merged' : state === 'open' ? 'open' : 'closed'

async function readPullRequest(octokit: Octokit, target: RepositoryParams, pull: PullNumber) {
  return (await catchNotFound(octokit.rest.pulls.get({ ...target, pull_number: pull })))?.data
}

function toPullReview(review: {
  id: number
  user: GitHubApiAccount | null
  state: string
  commit_id?: string | null
  submitted_at?: string
}): PullReview {
  return {
    id: review.id,
    author: toGitHubAccountOrNull(review.user),
    state: toReviewState(review.state),
    commit:
      typeof review.commit_id === 'string' && review.commit_id !== '' ? toCommitSha(review.commit_id) : null,
    submittedAt: review.submitted_at ?? '',
  }
}

function toPullDiffSize(pull: {
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
const getCommentCount = ({ comments = 0 }: { comments?: number }): number => comments

/** Up to one page more than `maxEntries`, because GitHub doesn't report the number of reviews. */
function readPullReviews(
  octokit: Octokit,
  target: RepositoryParams & { pull_number: PullNumber },
  maxEntries: number,
) {
  let read = 0
  return octokit.paginate(octokit.rest.pulls.listReviews, { ...target, per_page: 100 }, ({ data }, done) => {
    read += data.length
    if (read > maxEntries) done()
    return data
  })
}

function formatTooManyCommentsMessage(
  comments: number,
  reviews: number,
  maxEntries: number,
): string | undefined {
  if (comments <= maxEntries && reviews <= maxEntries) return undefined
  const limit = maxEntries.toLocaleString('en')
  const found =
    comments > maxEntries ? `${comments.toLocaleString('en')} comments` : `more than ${limit} reviews`
  return `the pull request has ${found}; catalog-bot reads at most ${limit}`
}
