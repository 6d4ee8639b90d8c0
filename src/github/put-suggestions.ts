// Our suggestions on the lines of a pull request's diff: wanted minus present, so that putting them twice changes nothing. What
// is out of date goes; where people have answered, it is folded instead.
import type { Suggestion } from '../messages/suggestions.ts'
import { suggestionMarker } from '../messages/suggestions.ts'
import type { Action } from '../ports/forge.ts'
import { toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { ActingApp } from './own-issues.ts'
import type { Target } from './target.ts'

interface ReviewComment {
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

const outdatedMarker = '<!-- catalog-bot:suggestion outdated -->'

/** Rejects with what Octokit rejects with, unless GitHub takes a line for none of the diff: then the comment has to do. */
export async function putSuggestions(
  octokit: Octokit,
  target: Target,
  { login }: Pick<ActingApp, 'login'>,
  { pull, head, suggestions }: Extract<Action, { kind: 'put-suggestions' }>,
): Promise<void> {
  const all: readonly ReviewComment[] = await octokit.paginate(octokit.rest.pulls.listReviewComments, {
    ...target,
    pull_number: pull,
    per_page: 100,
  })
  const account = all.some(({ body }) => body.startsWith(suggestionMarker))
    ? (await login()).toLowerCase()
    : ''
  const own = all.filter((comment) => isOwn(comment, account))
  const kept = new Set<ReviewComment>()
  const missing = suggestions.filter((wanted) => {
    const there = own.find((comment) => !kept.has(comment) && isSame(comment, wanted))
    if (there) kept.add(there)
    return there === undefined
  })
  for (const comment of own) {
    if (kept.has(comment)) continue
    if (all.some((other) => other.in_reply_to_id === comment.id)) await fold(octokit, target, comment)
    else await octokit.rest.pulls.deleteReviewComment({ ...target, comment_id: comment.id })
  }
  if (missing.length > 0) await suggest(octokit, target, pull, head, missing)
}

async function suggest(
  octokit: Octokit,
  target: Target,
  pull: number,
  head: string,
  missing: readonly Suggestion[],
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
    // GitHub alone knows its diff for sure. Nothing was written, and the comment shows every fix.
    if (toForgeError(error, 'suggest fixes').code !== 'rejected') throw error
  }
}

/** Its replies stay readable; what it says is marked as out of date, so that it is found no more. */
async function fold(octokit: Octokit, target: Target, { id, node_id, body }: ReviewComment): Promise<void> {
  await octokit.graphql(
    'mutation FoldComment($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId } }',
    { id: node_id },
  )
  await octokit.rest.pulls.updateReviewComment({
    ...target,
    comment_id: id,
    body: body.replace(suggestionMarker, outdatedMarker),
  })
}

/** GitHub does not say which App wrote a review comment; no person can have a bot's account name (T56). */
function isOwn({ user, body, in_reply_to_id }: ReviewComment, account: string): boolean {
  return (
    account !== '' &&
    user?.type === 'Bot' &&
    user.login.toLowerCase() === account &&
    in_reply_to_id === undefined &&
    body.startsWith(suggestionMarker)
  )
}

function isSame({ path, line, start_line, body }: ReviewComment, wanted: Suggestion): boolean {
  return (
    path === wanted.path &&
    line === wanted.last &&
    (start_line ?? line) === wanted.first &&
    body === wanted.body
  )
}
