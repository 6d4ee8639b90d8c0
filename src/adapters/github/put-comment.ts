// Maintains the App's only comment on a pull request, even if another process took over while this process was paused.
import type { PullNumber } from '../../pull-request/ids.ts'
import type { ForgeAction, BotComment, ForgeActionResult, ObservedBotComment } from '../../ports/forge.ts'
import { findBotComment, findBotComments, dropCachedComments, type CommentReader } from './read-comments.ts'
import { type ReviewSuggestion, reviewSuggestionMarker } from '../../report/report.ts'
import { catchNotFound, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { BotGitHubAppContext, RepositoryParams } from './bot-issues.ts'

interface RestReviewComment {
  readonly id: number
  readonly node_id: string
  readonly path: string
  readonly line?: number | null
  readonly start_line?: number | null
  readonly side?: string
  readonly in_reply_to_id?: number
  readonly body: string
  readonly user: { readonly login: string; readonly type?: string } | null
}

const outdatedSuggestionMarker = '<!-- catalog-bot:suggestion outdated -->'

/**
 * Milliseconds. A shorter pause can't lead to a takeover, which takes twelve seconds (server/serve.ts). After a longer
 * one, the comment is read again to avoid a duplicate.
 */
const maxCommentReadAgeMs = 5000

type UpsertCommentAction = Extract<ForgeAction, { kind: 'put-comment' }>

/** Rejects with Octokit's errors. */
export async function upsertBotComment(
  reader: CommentReader,
  { pull, body, present }: UpsertCommentAction,
): Promise<ForgeActionResult> {
  const known =
    present !== undefined && !isCommentReadStale(present, reader)
      ? present
      : await readTimestampedBotComment(reader, pull)
  const { comment } = known
  if (known.duplicates !== undefined) await deleteComments(reader, known.duplicates)
  if (comment?.body === body) return { updatedAt: comment.updatedAt }
  if (comment !== undefined) {
    const edited = await editComment(reader, comment, body)
    if (edited !== undefined) return edited
    // It was deleted since the read.
    dropCachedComments(reader, pull)
  }
  const made = await createComment(reader, pull, body)
  // This process may have been paused, so check for a duplicate.
  return isCommentReadStale(known, reader)
    ? deleteDuplicateComments(reader, pull, made)
    : { updatedAt: made.updatedAt }
}

const isCommentReadStale = ({ readAt }: ObservedBotComment, reader: CommentReader): boolean =>
  readMonotonicTimeMs(reader) - readAt > maxCommentReadAgeMs

const readMonotonicTimeMs = ({ monotonic }: CommentReader): number => monotonic?.() ?? performance.now()

async function readTimestampedBotComment(
  reader: CommentReader,
  pull: PullNumber,
): Promise<ObservedBotComment> {
  const readAt = readMonotonicTimeMs(reader)
  const comment = await findBotComment(reader, pull)
  return { readAt, ...(comment && { comment }) }
}

/** Undefined: it no longer exists. */
async function editComment(
  { octokit, repository }: CommentReader,
  { id }: BotComment,
  body: string,
): Promise<ForgeActionResult | undefined> {
  const target = { owner: repository.owner, repo: repository.name, comment_id: id }
  const edited = await catchNotFound(octokit.rest.issues.updateComment({ ...target, body }))
  return edited && { updatedAt: edited.data.updated_at }
}

async function createComment(
  { octokit, repository }: CommentReader,
  pull: PullNumber,
  body: string,
): Promise<BotComment> {
  const target = { owner: repository.owner, repo: repository.name }
  const { data } = await octokit.rest.issues.createComment({ ...target, issue_number: pull, body })
  return { id: data.id, body, updatedAt: data.updated_at }
}

/** The first writer took over, so its report is newer than what was read before the pause. */
async function deleteDuplicateComments(
  reader: CommentReader,
  pull: PullNumber,
  made: BotComment,
): Promise<ForgeActionResult> {
  const [first, ...later] = await findBotComments(reader, pull)
  if (first === undefined || later.length === 0) return { updatedAt: made.updatedAt }
  await deleteComments(
    reader,
    later.map(({ id }) => id),
  )
  dropCachedComments(reader, pull)
  return first.body === made.body ? { updatedAt: first.updatedAt } : {}
}

async function deleteComments(
  { octokit, repository }: CommentReader,
  comments: readonly number[],
): Promise<void> {
  const target = { owner: repository.owner, repo: repository.name }
  for (const comment_id of comments)
    // Another process of this App may be faster.
    await catchNotFound(octokit.rest.issues.deleteComment({ ...target, comment_id }))
}

/**
 * Our suggestions on the lines of a pull request's diff: desired minus present, so that repeating a call changes
 * nothing. Outdated suggestions are deleted, or folded if they have replies. Rejects with Octokit's errors, unless
 * GitHub rejects a line that is outside the diff. The comment shows every fix anyway.
 */
export async function upsertReviewSuggestions(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<BotGitHubAppContext, 'login'>,
  { pull, head, suggestions }: Extract<ForgeAction, { kind: 'put-suggestions' }>,
): Promise<void> {
  const all: readonly RestReviewComment[] = await octokit.paginate(octokit.rest.pulls.listReviewComments, {
    ...target,
    pull_number: pull,
    per_page: 100,
  })
  const account = all.some(({ body }) => body.startsWith(reviewSuggestionMarker))
    ? (await login()).toLowerCase()
    : ''
  const own = all.filter((comment) => isBotSuggestionComment(comment, account))
  const unchanged = new Set<RestReviewComment>()
  const missing = suggestions.filter((suggestion) => {
    const there = own.find((comment) => !unchanged.has(comment) && isSameSuggestion(comment, suggestion))
    if (there) unchanged.add(there)
    return there === undefined
  })
  for (const comment of own) {
    if (unchanged.has(comment)) continue
    if (all.some((other) => other.in_reply_to_id === comment.id))
      await markSuggestionOutdated(octokit, target, comment)
    else await octokit.rest.pulls.deleteReviewComment({ ...target, comment_id: comment.id })
  }
  if (missing.length > 0) await createReviewSuggestions(octokit, target, pull, head, missing)
}

async function createReviewSuggestions(
  octokit: Octokit,
  target: RepositoryParams,
  pull: number,
  head: string,
  missing: readonly ReviewSuggestion[],
): Promise<void> {
  try {
    await octokit.rest.pulls.createReview({
      ...target,
      pull_number: pull,
      commit_id: head,
      event: 'COMMENT',
      comments: missing.map(({ path, first, last, body }) => ({
        path,
        body,
        line: last,
        side: 'RIGHT',
        ...(last > first && { start_line: first, start_side: 'RIGHT' }),
      })),
    })
  } catch (error) {
    // Only GitHub knows its exact diff. Nothing was written, and the comment shows every fix.
    if (toForgeError(error, 'suggest fixes').code !== 'rejected') throw error
  }
}

/** Keeps its replies readable, and marks its text as outdated, so that it is not found again. */
async function markSuggestionOutdated(
  octokit: Octokit,
  target: RepositoryParams,
  { id, node_id, body }: RestReviewComment,
): Promise<void> {
  await octokit.graphql(
    'mutation FoldComment($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId } }',
    { id: node_id },
  )
  await octokit.rest.pulls.updateReviewComment({
    ...target,
    comment_id: id,
    body: body.replace(reviewSuggestionMarker, outdatedSuggestionMarker),
  })
}

/** GitHub does not say which App wrote a review comment; no user can have a bot's account name (T56). */
function isBotSuggestionComment({ user, body, in_reply_to_id }: RestReviewComment, account: string): boolean {
  return (
    account !== '' &&
    user?.type === 'Bot' &&
    user.login.toLowerCase() === account &&
    in_reply_to_id === undefined &&
    body.startsWith(reviewSuggestionMarker)
  )
}

function isSameSuggestion(
  { path, line, start_line, body }: RestReviewComment,
  suggestion: ReviewSuggestion,
): boolean {
  return (
    path === suggestion.path &&
    line === suggestion.last &&
    (start_line ?? line) === suggestion.first &&
    body === suggestion.body
  )
}
