// REST routes of pull requests and their reviews.
import { mergePull } from '../branch-rules/merge-pull.ts'
import { addReview, createPull, editPull, requestReviews } from '../pulls.ts'
import type { ReviewEvent } from '../pulls.ts'
import {
  addReviewComments,
  findCurrentCommentLine,
  readDraftCommentDiffHunks,
  removeReviewComment,
} from '../review-comments.ts'
import type { DraftReviewComment } from '../review-comments.ts'
import { updatePullMergeability } from '../git/ref-changes.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createValidationError,
  respondNoContent,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import { readChangedFiles } from '../views/commit-view.ts'
import { toPullSummaryView, toPullView, toReviewCommentView, toReviewView } from '../views/pull-view.ts'
import { findAccountByLogin, canPushToRepository, findCollaboratorRole } from '../github-data.ts'
import type { MockAccount, MockPull, MockRepository, MockReviewComment, Team } from '../github-data.ts'

const pullsReadPermission = { pull_requests: 'read' } as const
const pullsWritePermission = { pull_requests: 'write' } as const
// The maximum length of GitHub's list, regardless of paging.
const maxListedPullFiles = 3000

function requirePullRequest(call: RepositoryRouteRequest): MockPull {
  const pull = call.repo.pulls.get(parseIdParam(call, 'pull_number'))
  if (pull === undefined) throw createNotFoundError()
  return pull
}

function findPullsMatchingQuery({ repo, query }: RepositoryRouteRequest): MockPull[] {
  const state = query.get('state') ?? 'open'
  const base = query.get('base')
  const head = query.get('head')
  const byUpdate = query.get('sort') === 'updated'
  const sortKey = (it: MockPull): string => (byUpdate ? it.updatedAt : it.createdAt)
  const found = [...repo.pulls.values()]
    .filter((it) => state === 'all' || it.state === state)
    .filter((it) => base === null || it.baseRef === base)
    .filter((it) => head === null || `${it.headOwner.login}:${it.headRef}` === head)
    .sort((one, other) => sortKey(one).localeCompare(sortKey(other)) || one.number - other.number)
  // Newest first, unless the request has another sort and no direction: then GitHub reverses the order.
  const ascending =
    query.get('direction') === 'asc' ||
    (query.get('direction') === null && (query.get('sort') ?? 'created') !== 'created')
  return ascending ? found : found.reverse()
}

const mergeRoute = defineRepositoryRoute(
  'PUT /pulls/{pull_number}/merge',
  { contents: 'write' },
  async (call) => {
    const pull = requirePullRequest(call)
    if (call.caller.kind === 'user' && !canPushToRepository(pull.repo, getActingAccount(call.caller)))
      throw createNotFoundError()
    const sha = await mergePull(pull, call.caller, call.body)
    return respondOk({ sha, merged: true, message: 'Pull Request successfully merged' })
  },
)

const reviewRequestOperation = 'POST /pulls/{pull_number}/requested_reviewers'
const reviewRequestRoute = defineRepositoryRoute(
  reviewRequestOperation,
  pullsWritePermission,
  async (call) => {
    const pull = requirePullRequest(call)
    const { reviewers = [], team_reviewers = [] } = call.body as {
      reviewers?: string[]
      team_reviewers?: string[]
    }
    const users = reviewers.map((it) => requireCollaborator(call.repo, it))
    const teams = team_reviewers.map((it) => requireTeam(call.repo, it))
    await requestReviews(pull, users, teams, getActingAccount(call.caller))
    return respondCreated(toPullSummaryView(pull))
  },
)

const createNotCollaboratorError = (): GitHubApiError =>
  new GitHubApiError(
    422,
    'Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.',
  )

/** Only users with an explicit role can be requested as reviewers, not everyone who can read a public repository. */
function requireCollaborator(repo: MockRepository, login: string): MockAccount {
  const account = findAccountByLogin(repo.github, login)
  const role = account && findCollaboratorRole(repo, account)
  if (account === undefined || role === undefined || (role === 'read' && !repo.roles.has(account.id)))
    throw createNotCollaboratorError()
  return account
}

function requireTeam(repo: MockRepository, slug: string): Team {
  const team = repo.github.teams.find((it) => it.organization === repo.owner && it.slug === slug)
  if (team === undefined || !repo.teamRoles.has(team.id)) throw createNotCollaboratorError()
  return team
}

const requireReviewComment = (call: RepositoryRouteRequest): [MockPull, MockReviewComment] => {
  const id = parseIdParam(call, 'comment_id')
  for (const pull of call.repo.pulls.values()) {
    const found = pull.reviewComments.find((it) => it.id === id)
    if (found !== undefined) return [pull, found]
  }
  throw createNotFoundError()
}
const toCurrentReviewCommentView = async (pull: MockPull, comment: MockReviewComment) =>
  toReviewCommentView(pull, comment, await findCurrentCommentLine(pull, comment))
const reviewCommentRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /pulls/{pull_number}/comments', pullsReadPermission, async (call) => {
    const pull = requirePullRequest(call)
    return paginate(
      call,
      await Promise.all(pull.reviewComments.map((it) => toCurrentReviewCommentView(pull, it))),
    )
  }),
  defineRepositoryRoute('PATCH /pulls/comments/{comment_id}', pullsWritePermission, async (call) => {
    const [pull, comment] = requireReviewComment(call)
    comment.body = requireStringField(call, 'body', 'PullRequestReviewComment')
    comment.updatedAt = call.state.timestamp()
    return respondOk(await toCurrentReviewCommentView(pull, comment))
  }),
  defineRepositoryRoute('DELETE /pulls/comments/{comment_id}', pullsWritePermission, (call) => {
    removeReviewComment(...requireReviewComment(call))
    return respondNoContent()
  }),
]

const reviewRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /pulls/{pull_number}/reviews', pullsReadPermission, (call) =>
    // Only the author of a pending review can see it.
    paginate(
      call,
      requirePullRequest(call)
        .reviews.filter((it) => it.state !== 'PENDING' || it.author === getActingAccount(call.caller))
        .map((it) => toReviewView(requirePullRequest(call), it)),
    ),
  ),
  defineRepositoryRoute('POST /pulls/{pull_number}/reviews', pullsWritePermission, async (call) => {
    const {
      event,
      body = '',
      commit_id,
      comments = [],
    } = call.body as {
      event?: ReviewEvent
      body?: string
      commit_id?: string
      comments?: readonly DraftReviewComment[]
    }
    // A review with line comments does not need a body.
    if ((event === 'REQUEST_CHANGES' || event === 'COMMENT') && body === '' && comments.length === 0)
      throw new GitHubApiError(422, 'Unprocessable Entity', ['Body can not be blank'])
    const pull = requirePullRequest(call)
    const hunks = await readDraftCommentDiffHunks(pull, commit_id ?? pull.headSha, comments)
    const review = addReview(pull, getActingAccount(call.caller), event, body, commit_id)
    addReviewComments(pull, review, comments, hunks)
    return respondOk(toReviewView(pull, review))
  }),
  ...reviewCommentRoutes,
]

export const pullRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /pulls', pullsReadPermission, (call) =>
    paginate(
      call,
      findPullsMatchingQuery(call).map((it) => toPullSummaryView(it)),
    ),
  ),
  defineRepositoryRoute('POST /pulls', pullsWritePermission, async (call) => {
    const { repo, body, state } = call
    const head = requireStringField(call, 'head', 'PullRequest')
    const title = requireStringField(call, 'title', 'PullRequest')
    const [owner = '', branch] = head.includes(':') ? head.split(':') : [repo.owner.login, head]
    const network = [...state.repos].filter((it) => it === repo || it.parent === repo)
    const headRepo = network.find((it) => !it.deleted && it.owner === findAccountByLogin(state, owner))
    if (headRepo === undefined || branch === undefined) throw createValidationError('PullRequest', 'head')
    const request = { author: getActingAccount(call.caller), headRepo, headRef: branch, title }
    const {
      base: baseRef,
      body: pullBody = null,
      draft = false,
      maintainer_can_modify: maintainerCanModify = true,
    } = body as { base: string; body?: string; draft?: boolean; maintainer_can_modify?: boolean }
    const more = { baseRef, body: pullBody, draft, maintainerCanModify }
    const pull = await state.runSerialized(repo, () => createPull(repo, { ...request, ...more }))
    return respondCreated(await toPullView(pull))
  }),
  defineRepositoryRoute('GET /pulls/{pull_number}', pullsReadPermission, async (call) => {
    const pull = requirePullRequest(call)
    const reply = respondOk(await toPullView(pull))
    // The request itself makes GitHub compute it. This answer still contains null.
    if (pull.state === 'open' && pull.mergeable === undefined)
      call.state.runInBackground(updatePullMergeability(pull))
    return reply
  }),
  defineRepositoryRoute('PATCH /pulls/{pull_number}', pullsWritePermission, async (call) => {
    const pull = requirePullRequest(call)
    const { maintainer_can_modify: modifiable } = call.body
    if (typeof modifiable === 'boolean' && pull.headRepo !== pull.repo) pull.maintainerCanModify = modifiable
    await editPull(pull, call.body, getActingAccount(call.caller))
    return respondOk(await toPullView(pull))
  }),
  defineRepositoryRoute('GET /pulls/{pull_number}/files', pullsReadPermission, async (call) => {
    const { repo, baseSha, headSha } = requirePullRequest(call)
    return paginate(call, (await readChangedFiles(repo, baseSha, headSha)).slice(0, maxListedPullFiles))
  }),
  defineRepositoryRoute('GET /pulls/{pull_number}/merge', pullsReadPermission, (call) => {
    if (requirePullRequest(call).merged === null) throw createNotFoundError()
    return respondNoContent()
  }),
  mergeRoute,
  reviewRequestRoute,
  ...reviewRoutes,
]
