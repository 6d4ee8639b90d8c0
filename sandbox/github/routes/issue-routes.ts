// REST routes of issues, and of the issue side of pull requests: comments and reactions.
import { addComment, updateCommentBody, findComment, removeComment } from '../comments.ts'
import { createIssue, editIssue } from '../issues.ts'
import type { IssueChanges } from '../issues.ts'
import { editPull } from '../pulls.ts'
import type { PullChanges } from '../pulls.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createValidationError,
  respondNoContent,
  createNotAccessibleError,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
  findCallerApp,
} from '../http/route.ts'
import type { RouteRequest, RepositoryRouteRequest, Route } from '../http/route.ts'
import { toAccountView, toNodeId } from '../views/account-view.ts'
import { toCommentView, toIssueView } from '../views/pull-view.ts'
import { canPushToRepository, findPullOrIssue } from '../github-data.ts'
import type { MockAccount, MockComment, IssueComment, AppPermissions, PullOrIssue } from '../github-data.ts'

// Either permission gives access to a pull request's comments and labels.
const issueReadPermissions: readonly AppPermissions[] = [{ issues: 'read' }, { pull_requests: 'read' }]
const issueWritePermissions: readonly AppPermissions[] = [{ issues: 'write' }, { pull_requests: 'write' }]
// GitHub's limit on the length of a comment.
const maxIssueOrCommentBodyCharacters = 65_536
const maxIssueTitleCharacters = 256

function requirePullRequestOrIssue(call: RepositoryRouteRequest): PullOrIssue {
  const thread = findPullOrIssue(call.repo, parseIdParam(call, 'issue_number'))
  if (thread === undefined) throw createNotFoundError()
  return thread
}

function requireComment(call: RepositoryRouteRequest): IssueComment {
  const comment = findComment(call.repo, parseIdParam(call, 'comment_id'))
  if (comment === undefined) throw createNotFoundError()
  return comment
}

function requireIssueOrCommentBody(call: RouteRequest, resource: string): string {
  const body = requireStringField(call, 'body', resource)
  if (body.length > maxIssueOrCommentBodyCharacters)
    throw createValidationError(
      resource,
      'body',
      'custom',
      `body is too long (maximum is ${maxIssueOrCommentBodyCharacters} characters)`,
    )
  return body
}

/** Whether the caller may change a comment: its author, and users with write access. */
function requireCommentEditAccess(call: RepositoryRouteRequest, comment: MockComment): MockAccount {
  const actor = getActingAccount(call.caller)
  if (comment.author !== actor && !(call.caller.kind === 'user' && canPushToRepository(call.repo, actor))) {
    // GitHub also lets an app with write permission edit comments by others.
    if (call.caller.kind !== 'installation') throw createNotAccessibleError()
  }
  return actor
}

const pullOrIssueRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /issues/{issue_number}', issueReadPermissions, (call) =>
    respondOk(toIssueView(requirePullRequestOrIssue(call))),
  ),
  defineRepositoryRoute('GET /issues', issueReadPermissions, (call) => {
    const { pulls, issues } = call.repo
    const wanted = call.query.get('state') ?? 'open'
    const creator = call.query.get('creator')?.toLowerCase()
    const found = [...pulls.values(), ...issues.values()]
      .filter((it) => wanted === 'all' || it.state === wanted)
      .filter((it) => creator === undefined || it.author.login.toLowerCase() === creator)
      .sort((one, other) => other.number - one.number)
    if (call.query.get('direction') === 'asc') found.reverse()
    return paginate(call, found, (items) => items.map((it) => toIssueView(it)))
  }),
  // The pull request permission does not give access to these routes, because it applies only to pull requests.
  defineRepositoryRoute('POST /issues', { issues: 'write' }, (call) => {
    if (!call.repo.hasIssues) throw new GitHubApiError(410, 'Issues are disabled for this repo')
    const author = getActingAccount(call.caller)
    const title = requireStringField(call, 'title', 'Issue')
    if (title.length > maxIssueTitleCharacters)
      throw createValidationError('Issue', 'title', 'custom', 'title is too long')
    const body = call.body['body'] === undefined ? null : requireIssueOrCommentBody(call, 'Issue')
    const issue = createIssue(call.repo, { author, app: findCallerApp(call.caller), title, body })
    return respondCreated(toIssueView(issue))
  }),
  defineRepositoryRoute('PATCH /issues/{issue_number}', { issues: 'write' }, async (call) => {
    const thread = requirePullRequestOrIssue(call)
    const { title, state: wanted, state_reason: reason } = call.body as Record<string, string | undefined>
    const changes: IssueChanges & PullChanges = {
      ...(title !== undefined && { title }),
      ...(call.body['body'] !== undefined && { body: requireIssueOrCommentBody(call, 'Issue') }),
      ...((wanted === 'open' || wanted === 'closed') && { state: wanted }),
      ...(reason !== undefined && { reason: reason as NonNullable<IssueChanges['reason']> }),
    }
    if ('headSha' in thread) await editPull(thread, changes, getActingAccount(call.caller))
    else if (!call.repo.hasIssues) throw new GitHubApiError(410, 'Issues are disabled for this repo')
    else editIssue(thread, changes, getActingAccount(call.caller))
    return respondOk(toIssueView(thread))
  }),
]

const listComments = (
  call: RepositoryRouteRequest,
  comments: readonly IssueComment[],
): ReturnType<typeof respondOk> => {
  const since = call.query.get('since')
  const chosen = comments.filter((it) => since === null || it.updatedAt >= since)
  return paginate(call, chosen, (items) => items.map((it) => toCommentView(it)))
}
const commentRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /issues/comments/{comment_id}', issueReadPermissions, (call) =>
    respondOk(toCommentView(requireComment(call))),
  ),
  defineRepositoryRoute('PATCH /issues/comments/{comment_id}', issueWritePermissions, (call) => {
    const comment = requireComment(call)
    updateCommentBody(
      comment,
      requireIssueOrCommentBody(call, 'IssueComment'),
      requireCommentEditAccess(call, comment),
    )
    return respondOk(toCommentView(comment))
  }),
  defineRepositoryRoute('DELETE /issues/comments/{comment_id}', issueWritePermissions, (call) => {
    const comment = requireComment(call)
    removeComment(comment, requireCommentEditAccess(call, comment))
    return respondNoContent()
  }),
  defineRepositoryRoute('GET /issues/{issue_number}/comments', issueReadPermissions, (call) =>
    listComments(call, requirePullRequestOrIssue(call).comments),
  ),
  defineRepositoryRoute('POST /issues/{issue_number}/comments', issueWritePermissions, (call) => {
    const thread = requirePullRequestOrIssue(call)
    const body = requireIssueOrCommentBody(call, 'IssueComment')
    if (
      thread.locked &&
      !(call.caller.kind === 'user' && canPushToRepository(call.repo, call.caller.account))
    )
      throw new GitHubApiError(403, 'Unable to create comment because issue is locked.')
    const comment = addComment(thread, getActingAccount(call.caller), findCallerApp(call.caller), body)
    return respondCreated(toCommentView(comment))
  }),
]

const knownReactions = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']

const reactionRoute = defineRepositoryRoute(
  'POST /issues/comments/{comment_id}/reactions',
  issueWritePermissions,
  (call) => {
    const { state } = call
    const { reactions } = requireComment(call)
    const author = getActingAccount(call.caller)
    const content = requireStringField(call, 'content', 'Reaction')
    if (!knownReactions.includes(content)) throw createValidationError('Reaction', 'content')
    const old = reactions.find((it) => it.author === author && it.content === content)
    const reaction = old ?? { id: state.nextId(), author, content }
    if (old === undefined) reactions.push(reaction)
    const view = {
      id: reaction.id,
      node_id: toNodeId('Reaction', reaction.id),
      user: toAccountView(author),
      content,
      created_at: state.timestamp(),
    }
    return old === undefined ? respondCreated(view) : respondOk(view)
  },
)

export const issueRoutes: readonly Route[] = [...pullOrIssueRoutes, ...commentRoutes, reactionRoute]
