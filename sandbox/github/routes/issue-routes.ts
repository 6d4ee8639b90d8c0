// REST routes of issues, and of the issue side of pull requests: comments, reactions, labels; and comments on commits.
import type { Caller } from '../http/caller.ts'
import { addComment, addCommitComment, changeComment, findComment, removeComment } from '../comments.ts'
import { getActingAccount } from '../github-state.ts'
import { createIssue, editIssue } from '../issues.ts'
import type { IssueChanges } from '../issues.ts'
import type { GitHubState } from '../github-state.ts'
import { editPull, addPullLabel, findOrCreateLabel, removePullLabel } from '../pulls.ts'
import type { PullChanges } from '../pulls.ts'
import {
  GitHubApiError,
  created,
  parseIdParam,
  createValidationError,
  noContent,
  notAccessible,
  notFound,
  ok,
  paginate,
  repoRoute,
  requireText,
} from '../http/route.ts'
import type { RouteCall, RepositoryCall, Route } from '../http/route.ts'
import { accountView, toNodeId } from '../views/account-view.ts'
import { commentView, commitCommentView, issueView, labelView } from '../views/pull-view.ts'
import { canPush, findThread } from '../github-data.ts'
import type {
  MockAccount,
  MockApp,
  MockComment,
  CommitComment,
  IssueComment,
  GitHubPayload,
  MockPull,
  AppPermissions,
  CommentThread,
  MockGitHubData,
} from '../github-data.ts'
import { requireCommit } from './repository-routes.ts'

// A pull request's comments and labels open to either permission.
const issueReadPermissions: readonly AppPermissions[] = [{ issues: 'read' }, { pull_requests: 'read' }]
const issueWritePermissions: readonly AppPermissions[] = [{ issues: 'write' }, { pull_requests: 'write' }]
// GitHub's cap on a comment's text.
const maxBodyCharacters = 65_536
const maxTitleCharacters = 256

export function issueRoutes(state: GitHubState): Route[] {
  return [
    ...threadRoutes(state),
    ...commentRoutes(state),
    ...reactionRoutes(state.world),
    ...labelRoutes(state),
    ...commitCommentRoutes(state),
  ]
}

/** A pull request by its number; labels of other issues are not played here. */
function requirePull(call: RepositoryCall): MockPull {
  const pull = call.repo.pulls.get(parseIdParam(call, 'issue_number'))
  if (pull === undefined) throw notFound()
  return pull
}

function requireThread(call: RepositoryCall): CommentThread {
  const thread = findThread(call.repo, parseIdParam(call, 'issue_number'))
  if (thread === undefined) throw notFound()
  return thread
}

function requireComment(call: RepositoryCall): IssueComment {
  const comment = findComment(call.repo, parseIdParam(call, 'comment_id'))
  if (comment === undefined) throw notFound()
  return comment
}

function requireBodyText(call: RouteCall, resource: string): string {
  const body = requireText(call, 'body', resource)
  if (body.length > maxBodyCharacters)
    throw createValidationError(
      resource,
      'body',
      'custom',
      `body is too long (maximum is ${maxBodyCharacters} characters)`,
    )
  return body
}

const findCallerApp = (caller: Caller): MockApp | null =>
  caller.kind === 'installation' ? caller.installation.app : null

/** Who may change a comment: its author, and people who may push. */
function requireCommentEditor(call: RepositoryCall, comment: MockComment): MockAccount {
  const actor = getActingAccount(call.caller)
  if (comment.author !== actor && !(call.caller.kind === 'user' && canPush(call.world, call.repo, actor))) {
    // An app with write permission may edit others' comments as well; GitHub lets it.
    if (call.caller.kind !== 'installation') throw notAccessible()
  }
  return actor
}

function threadRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('GET /issues/{issue_number}', issueReadPermissions, (call) =>
      ok(issueView(world, requireThread(call))),
    ),
    repoRoute('GET /issues', issueReadPermissions, (call) => {
      const { pulls, issues } = call.repo
      const wanted = call.query.get('state') ?? 'open'
      const creator = call.query.get('creator')?.toLowerCase()
      const found = [...pulls.values(), ...issues.values()]
        .filter((it) => wanted === 'all' || it.state === wanted)
        .filter((it) => creator === undefined || it.author.login.toLowerCase() === creator)
        .sort((one, other) => other.number - one.number)
      if (call.query.get('direction') === 'asc') found.reverse()
      return paginate(call, found, (items) => items.map((it) => issueView(world, it)))
    }),
    // A pull request's own permission does not open these: it is for pull requests alone.
    repoRoute('POST /issues', { issues: 'write' }, (call) => {
      if (!call.repo.hasIssues) throw new GitHubApiError(410, 'Issues are disabled for this repo')
      const author = getActingAccount(call.caller)
      const title = requireText(call, 'title', 'Issue')
      if (title.length > maxTitleCharacters)
        throw createValidationError('Issue', 'title', 'custom', 'title is too long')
      const body = call.body['body'] === undefined ? null : requireBodyText(call, 'Issue')
      const issue = createIssue(state, call.repo, { author, app: findCallerApp(call.caller), title, body })
      return created(issueView(world, issue))
    }),
    repoRoute('PATCH /issues/{issue_number}', { issues: 'write' }, async (call) => {
      const thread = requireThread(call)
      const { title, state: wanted, state_reason: reason } = call.body as Record<string, string | undefined>
      const changes: IssueChanges & PullChanges = {
        ...(title !== undefined && { title }),
        ...(call.body['body'] !== undefined && { body: requireBodyText(call, 'Issue') }),
        ...((wanted === 'open' || wanted === 'closed') && { state: wanted }),
        ...(reason !== undefined && { reason: reason as NonNullable<IssueChanges['reason']> }),
      }
      if ('headSha' in thread) await editPull(state, thread, changes, getActingAccount(call.caller))
      else if (!call.repo.hasIssues) throw new GitHubApiError(410, 'Issues are disabled for this repo')
      else editIssue(state, thread, changes, getActingAccount(call.caller))
      return ok(issueView(world, thread))
    }),
  ]
}

function commentRoutes(state: GitHubState): Route[] {
  const { world } = state
  const listComments = (call: RepositoryCall, comments: readonly IssueComment[]): ReturnType<typeof ok> => {
    const since = call.query.get('since')
    const chosen = comments.filter((it) => since === null || it.updatedAt >= since)
    return paginate(call, chosen, (items) => items.map((it) => commentView(world, it)))
  }
  return [
    repoRoute('GET /issues/comments/{comment_id}', issueReadPermissions, (call) =>
      ok(commentView(world, requireComment(call))),
    ),
    repoRoute('PATCH /issues/comments/{comment_id}', issueWritePermissions, (call) => {
      const comment = requireComment(call)
      changeComment(
        state,
        comment,
        requireBodyText(call, 'IssueComment'),
        requireCommentEditor(call, comment),
      )
      return ok(commentView(world, comment))
    }),
    repoRoute('DELETE /issues/comments/{comment_id}', issueWritePermissions, (call) => {
      const comment = requireComment(call)
      removeComment(state, comment, requireCommentEditor(call, comment))
      return noContent()
    }),
    repoRoute('GET /issues/{issue_number}/comments', issueReadPermissions, (call) =>
      listComments(call, requireThread(call).comments),
    ),
    repoRoute('POST /issues/{issue_number}/comments', issueWritePermissions, (call) => {
      const thread = requireThread(call)
      const body = requireBodyText(call, 'IssueComment')
      if (thread.locked && !(call.caller.kind === 'user' && canPush(world, call.repo, call.caller.account)))
        throw new GitHubApiError(403, 'Unable to create comment because issue is locked.')
      const comment = addComment(
        state,
        thread,
        getActingAccount(call.caller),
        findCallerApp(call.caller),
        body,
      )
      return created(commentView(world, comment))
    }),
  ]
}

function reactionRoutes(world: MockGitHubData): Route[] {
  const reactionView = ({ id, author, content }: MockComment['reactions'][number]): GitHubPayload => ({
    id,
    node_id: toNodeId('Reaction', id),
    user: accountView(world, author),
    content,
    created_at: world.timestamp(),
  })
  const base = '/issues/comments/{comment_id}/reactions'
  const known = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']
  return [
    repoRoute(`GET ${base}`, issueReadPermissions, (call) =>
      paginate(call, requireComment(call).reactions.map(reactionView)),
    ),
    repoRoute(`POST ${base}`, issueWritePermissions, (call) => {
      const { reactions } = requireComment(call)
      const author = getActingAccount(call.caller)
      const content = requireText(call, 'content', 'Reaction')
      if (!known.includes(content)) throw createValidationError('Reaction', 'content')
      const old = reactions.find((it) => it.author === author && it.content === content)
      if (old !== undefined) return ok(reactionView(old))
      const reaction = { id: world.nextId(), author, content }
      reactions.push(reaction)
      return created(reactionView(reaction))
    }),
    repoRoute(`DELETE ${base}/{reaction_id}`, issueWritePermissions, (call) => {
      const { reactions } = requireComment(call)
      const index = reactions.findIndex((it) => it.id === parseIdParam(call, 'reaction_id'))
      if (index < 0) throw notFound()
      reactions.splice(index, 1)
      return noContent()
    }),
  ]
}

function labelRoutes(state: GitHubState): Route[] {
  const { world } = state
  const pullLabelViews = ({ repo }: RepositoryCall, pull: MockPull): GitHubPayload[] =>
    pull.labels.map((it) => labelView(world, repo, it))
  const parseLabelNames = (call: RouteCall): string[] =>
    ((call.body['labels'] ?? []) as (string | { name: string })[]).map((it) =>
      typeof it === 'string' ? it : it.name,
    )
  const base = '/issues/{issue_number}/labels'
  return [
    repoRoute('GET /labels', issueReadPermissions, (call) =>
      paginate(call, [...call.repo.labels.values()], (items) =>
        items.map((it) => labelView(world, call.repo, it)),
      ),
    ),
    repoRoute('POST /labels', issueWritePermissions, (call) => {
      const name = requireText(call, 'name', 'Label')
      if (call.repo.labels.has(name.toLowerCase())) throw createValidationError('Label', 'name', 'already_exists')
      const { color, description } = call.body as { color?: string; description?: string }
      return created(
        labelView(world, call.repo, findOrCreateLabel(world, call.repo, name, color, description)),
      )
    }),
    repoRoute(`GET ${base}`, issueReadPermissions, (call) =>
      paginate(call, pullLabelViews(call, requirePull(call))),
    ),
    repoRoute(`POST ${base}`, issueWritePermissions, async (call) => {
      for (const name of parseLabelNames(call))
        await addPullLabel(state, requirePull(call), name, getActingAccount(call.caller))
      return ok(pullLabelViews(call, requirePull(call)))
    }),
    repoRoute(`PUT ${base}`, issueWritePermissions, async (call) => {
      const pull = requirePull(call)
      const wanted = parseLabelNames(call).map((it) => it.toLowerCase())
      for (const { name } of [...pull.labels])
        if (!wanted.includes(name.toLowerCase()))
          await removePullLabel(state, pull, name, getActingAccount(call.caller))
      for (const name of parseLabelNames(call))
        await addPullLabel(state, pull, name, getActingAccount(call.caller))
      return ok(pullLabelViews(call, pull))
    }),
    repoRoute(`DELETE ${base}/{name}`, issueWritePermissions, async (call) => {
      if (
        !(await removePullLabel(
          state,
          requirePull(call),
          call.params['name'] ?? '',
          getActingAccount(call.caller),
        ))
      )
        throw new GitHubApiError(404, 'Label does not exist')
      return ok(pullLabelViews(call, requirePull(call)))
    }),
  ]
}

function commitCommentRoutes(state: GitHubState): Route[] {
  const { world } = state
  const requireCommitComment = (call: RepositoryCall): CommitComment => {
    const id = parseIdParam(call, 'comment_id')
    const found = call.repo.commitComments.find((it) => it.id === id)
    if (found === undefined) throw notFound()
    return found
  }
  return [
    repoRoute('GET /commits/{commit_sha}/comments', { contents: 'read' }, async (call) => {
      const sha = await requireCommit(call, call.params['commit_sha'] ?? '')
      const comments = call.repo.commitComments.filter((it) => it.sha === sha)
      return paginate(call, comments, (items) => items.map((it) => commitCommentView(world, it)))
    }),
    repoRoute('POST /commits/{commit_sha}/comments', { contents: 'write' }, async (call) => {
      const sha = await requireCommit(call, call.params['commit_sha'] ?? '')
      const { path = null, position = null } = call.body as { path?: string; position?: number }
      const body = requireBodyText(call, 'CommitComment')
      const comment = addCommitComment(
        state,
        call.repo,
        sha,
        getActingAccount(call.caller),
        findCallerApp(call.caller),
        body,
        { path, position },
      )
      return created(commitCommentView(world, comment))
    }),
    repoRoute('GET /comments/{comment_id}', { contents: 'read' }, (call) =>
      ok(commitCommentView(world, requireCommitComment(call))),
    ),
    repoRoute('PATCH /comments/{comment_id}', { contents: 'write' }, (call) => {
      const comment = requireCommitComment(call)
      requireCommentEditor(call, comment)
      comment.body = requireBodyText(call, 'CommitComment')
      comment.updatedAt = world.timestamp()
      return ok(commitCommentView(world, comment))
    }),
    repoRoute('DELETE /comments/{comment_id}', { contents: 'write' }, (call) => {
      const comment = requireCommitComment(call)
      requireCommentEditor(call, comment)
      call.repo.commitComments.splice(call.repo.commitComments.indexOf(comment), 1)
      return noContent()
    }),
  ]
}
