// Our suggestions on the lines of a pull request's diff: desired minus present, so that repeating a call changes nothing.
// Outdated suggestions are deleted, or folded if they have replies.
import { type ReviewSuggestion, reviewSuggestionMarker } from '../../report/report.ts'
import type { ForgeAction } from '../../ports/forge.ts'
import { toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { BotAppContext } from './own-issues.ts'
import type { RepositoryParams } from './repository-params.ts'

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

/** Rejects with Octokit's errors, unless GitHub rejects a line that is outside the diff. The comment shows every fix anyway. */
export async function putReviewSuggestions(
  octokit: Octokit,
  target: RepositoryParams,
  { login }: Pick<BotAppContext, 'login'>,
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
  const missing = suggestions.filter((wanted) => {
    const there = own.find((comment) => !unchanged.has(comment) && isSameSuggestion(comment, wanted))
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

/** GitHub does not say which App wrote a review comment; no person can have a bot's account name (T56). */
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
  wanted: ReviewSuggestion,
): boolean {
  return (
    path === wanted.path &&
    line === wanted.last &&
    (start_line ?? line) === wanted.first &&
    body === wanted.body
  )
}
