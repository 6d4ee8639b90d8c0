// REST routes of issues, and of the issue side of pull requests: comments, reactions, labels; and comments on commits.
import type { Caller } from '../http/caller.ts'
import { addComment, addCommitComment, changeComment, findComment, removeComment } from '../comments.ts'
import { actorOf } from '../github-state.ts'
import { createIssue, editIssue } from '../issues.ts'
import type { IssueChanges } from '../issues.ts'
import type { GitHubState } from '../github-state.ts'
import { editPull, labelPull, labelNamed, unlabelPull } from '../pulls.ts'
import type { PullChanges } from '../pulls.ts'
import {
  Refusal,
  created,
  idParam,
  invalid,
  noContent,
  notAccessible,
  notFound,
  ok,
  page,
  repoRoute,
  text,
} from '../http/route.ts'
import type { Call, RepoCall, Route } from '../http/route.ts'
import { accountView, nodeId } from '../views/account-view.ts'
import { commentView, commitCommentView, issueView, labelView } from '../views/pull-view.ts'
import { mayPush, threadOf } from '../world.ts'
import type {
  Account,
  App,
  Comment,
  CommitComment,
  IssueComment,
  Payload,
  Pull,
  Permissions,
  Thread,
  World,
} from '../world.ts'
import { commitOf } from './repository-routes.ts'

// A pull request's comments and labels open to either permission.
const reads: readonly Permissions[] = [{ issues: 'read' }, { pull_requests: 'read' }]
const writes: readonly Permissions[] = [{ issues: 'write' }, { pull_requests: 'write' }]
// GitHub's cap on a comment's text.
const bodyLimit = 65_536
const titleLimit = 256

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
function pullOf(call: RepoCall): Pull {
  const pull = call.repo.pulls.get(idParam(call, 'issue_number'))
  if (pull === undefined) throw notFound()
  return pull
}

function issueOf(call: RepoCall): Thread {
  const thread = threadOf(call.repo, idParam(call, 'issue_number'))
  if (thread === undefined) throw notFound()
  return thread
}

function commentOf(call: RepoCall): IssueComment {
  const comment = findComment(call.repo, idParam(call, 'comment_id'))
  if (comment === undefined) throw notFound()
  return comment
}

function bodyText(call: Call, resource: string): string {
  const body = text(call, 'body', resource)
  if (body.length > bodyLimit)
    throw invalid(resource, 'body', 'custom', `body is too long (maximum is ${bodyLimit} characters)`)
  return body
}

const appOf = (caller: Caller): App | null =>
  caller.kind === 'installation' ? caller.installation.app : null

/** Who may change a comment: its author, and people who may push. */
function mayChange(call: RepoCall, comment: Comment): Account {
  const actor = actorOf(call.caller)
  if (comment.author !== actor && !(call.caller.kind === 'user' && mayPush(call.world, call.repo, actor))) {
    // An app with write permission may edit others' comments as well; GitHub lets it.
    if (call.caller.kind !== 'installation') throw notAccessible()
  }
  return actor
}

function threadRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('GET /issues/{issue_number}', reads, (call) => ok(issueView(world, issueOf(call)))),
    repoRoute('GET /issues', reads, (call) => {
      const { pulls, issues } = call.repo
      const wanted = call.query.get('state') ?? 'open'
      const creator = call.query.get('creator')?.toLowerCase()
      const found = [...pulls.values(), ...issues.values()]
        .filter((it) => wanted === 'all' || it.state === wanted)
        .filter((it) => creator === undefined || it.author.login.toLowerCase() === creator)
        .sort((one, other) => other.number - one.number)
      if (call.query.get('direction') === 'asc') found.reverse()
      return page(call, found, (items) => items.map((it) => issueView(world, it)))
    }),
    // A pull request's own permission does not open these: it is for pull requests alone.
    repoRoute('POST /issues', { issues: 'write' }, (call) => {
      if (!call.repo.hasIssues) throw new Refusal(410, 'Issues are disabled for this repo')
      const author = actorOf(call.caller)
      const title = text(call, 'title', 'Issue')
      if (title.length > titleLimit) throw invalid('Issue', 'title', 'custom', 'title is too long')
      const body = call.body['body'] === undefined ? null : bodyText(call, 'Issue')
      const issue = createIssue(state, call.repo, { author, app: appOf(call.caller), title, body })
      return created(issueView(world, issue))
    }),
    repoRoute('PATCH /issues/{issue_number}', { issues: 'write' }, async (call) => {
      const thread = issueOf(call)
      const { title, state: wanted, state_reason: reason } = call.body as Record<string, string | undefined>
      const changes: IssueChanges & PullChanges = {
        ...(title !== undefined && { title }),
        ...(call.body['body'] !== undefined && { body: bodyText(call, 'Issue') }),
        ...((wanted === 'open' || wanted === 'closed') && { state: wanted }),
        ...(reason !== undefined && { reason: reason as NonNullable<IssueChanges['reason']> }),
      }
      if ('headSha' in thread) await editPull(state, thread, changes, actorOf(call.caller))
      else if (!call.repo.hasIssues) throw new Refusal(410, 'Issues are disabled for this repo')
      else editIssue(state, thread, changes, actorOf(call.caller))
      return ok(issueView(world, thread))
    }),
  ]
}

function commentRoutes(state: GitHubState): Route[] {
  const { world } = state
  const list = (call: RepoCall, comments: readonly IssueComment[]): ReturnType<typeof ok> => {
    const since = call.query.get('since')
    const chosen = comments.filter((it) => since === null || it.updatedAt >= since)
    return page(call, chosen, (items) => items.map((it) => commentView(world, it)))
  }
  return [
    repoRoute('GET /issues/comments/{comment_id}', reads, (call) => ok(commentView(world, commentOf(call)))),
    repoRoute('PATCH /issues/comments/{comment_id}', writes, (call) => {
      const comment = commentOf(call)
      changeComment(state, comment, bodyText(call, 'IssueComment'), mayChange(call, comment))
      return ok(commentView(world, comment))
    }),
    repoRoute('DELETE /issues/comments/{comment_id}', writes, (call) => {
      const comment = commentOf(call)
      removeComment(state, comment, mayChange(call, comment))
      return noContent()
    }),
    repoRoute('GET /issues/{issue_number}/comments', reads, (call) => list(call, issueOf(call).comments)),
    repoRoute('POST /issues/{issue_number}/comments', writes, (call) => {
      const thread = issueOf(call)
      const body = bodyText(call, 'IssueComment')
      if (thread.locked && !(call.caller.kind === 'user' && mayPush(world, call.repo, call.caller.account)))
        throw new Refusal(403, 'Unable to create comment because issue is locked.')
      const comment = addComment(state, thread, actorOf(call.caller), appOf(call.caller), body)
      return created(commentView(world, comment))
    }),
  ]
}

function reactionRoutes(world: World): Route[] {
  const view = ({ id, author, content }: Comment['reactions'][number]): Payload => ({
    id,
    node_id: nodeId('Reaction', id),
    user: accountView(world, author),
    content,
    created_at: world.timestamp(),
  })
  const base = '/issues/comments/{comment_id}/reactions'
  const known = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']
  return [
    repoRoute(`GET ${base}`, reads, (call) => page(call, commentOf(call).reactions.map(view))),
    repoRoute(`POST ${base}`, writes, (call) => {
      const { reactions } = commentOf(call)
      const author = actorOf(call.caller)
      const content = text(call, 'content', 'Reaction')
      if (!known.includes(content)) throw invalid('Reaction', 'content')
      const old = reactions.find((it) => it.author === author && it.content === content)
      if (old !== undefined) return ok(view(old))
      const reaction = { id: world.nextId(), author, content }
      reactions.push(reaction)
      return created(view(reaction))
    }),
    repoRoute(`DELETE ${base}/{reaction_id}`, writes, (call) => {
      const { reactions } = commentOf(call)
      const index = reactions.findIndex((it) => it.id === idParam(call, 'reaction_id'))
      if (index < 0) throw notFound()
      reactions.splice(index, 1)
      return noContent()
    }),
  ]
}

function labelRoutes(state: GitHubState): Route[] {
  const { world } = state
  const shown = ({ repo }: RepoCall, pull: Pull): Payload[] =>
    pull.labels.map((it) => labelView(world, repo, it))
  const named = (call: Call): string[] =>
    ((call.body['labels'] ?? []) as (string | { name: string })[]).map((it) =>
      typeof it === 'string' ? it : it.name,
    )
  const base = '/issues/{issue_number}/labels'
  return [
    repoRoute('GET /labels', reads, (call) =>
      page(call, [...call.repo.labels.values()], (items) =>
        items.map((it) => labelView(world, call.repo, it)),
      ),
    ),
    repoRoute('POST /labels', writes, (call) => {
      const name = text(call, 'name', 'Label')
      if (call.repo.labels.has(name.toLowerCase())) throw invalid('Label', 'name', 'already_exists')
      const { color, description } = call.body as { color?: string; description?: string }
      return created(labelView(world, call.repo, labelNamed(world, call.repo, name, color, description)))
    }),
    repoRoute(`GET ${base}`, reads, (call) => page(call, shown(call, pullOf(call)))),
    repoRoute(`POST ${base}`, writes, async (call) => {
      for (const name of named(call)) await labelPull(state, pullOf(call), name, actorOf(call.caller))
      return ok(shown(call, pullOf(call)))
    }),
    repoRoute(`PUT ${base}`, writes, async (call) => {
      const pull = pullOf(call)
      const wanted = named(call).map((it) => it.toLowerCase())
      for (const { name } of [...pull.labels])
        if (!wanted.includes(name.toLowerCase())) await unlabelPull(state, pull, name, actorOf(call.caller))
      for (const name of named(call)) await labelPull(state, pull, name, actorOf(call.caller))
      return ok(shown(call, pull))
    }),
    repoRoute(`DELETE ${base}/{name}`, writes, async (call) => {
      if (!(await unlabelPull(state, pullOf(call), call.params['name'] ?? '', actorOf(call.caller))))
        throw new Refusal(404, 'Label does not exist')
      return ok(shown(call, pullOf(call)))
    }),
  ]
}

function commitCommentRoutes(state: GitHubState): Route[] {
  const { world } = state
  const commentOn = (call: RepoCall): CommitComment => {
    const id = idParam(call, 'comment_id')
    const found = call.repo.commitComments.find((it) => it.id === id)
    if (found === undefined) throw notFound()
    return found
  }
  return [
    repoRoute('GET /commits/{commit_sha}/comments', { contents: 'read' }, async (call) => {
      const sha = await commitOf(call, call.params['commit_sha'] ?? '')
      const comments = call.repo.commitComments.filter((it) => it.sha === sha)
      return page(call, comments, (items) => items.map((it) => commitCommentView(world, it)))
    }),
    repoRoute('POST /commits/{commit_sha}/comments', { contents: 'write' }, async (call) => {
      const sha = await commitOf(call, call.params['commit_sha'] ?? '')
      const { path = null, position = null } = call.body as { path?: string; position?: number }
      const body = bodyText(call, 'CommitComment')
      const comment = addCommitComment(
        state,
        call.repo,
        sha,
        actorOf(call.caller),
        appOf(call.caller),
        body,
        { path, position },
      )
      return created(commitCommentView(world, comment))
    }),
    repoRoute('GET /comments/{comment_id}', { contents: 'read' }, (call) =>
      ok(commitCommentView(world, commentOn(call))),
    ),
    repoRoute('PATCH /comments/{comment_id}', { contents: 'write' }, (call) => {
      const comment = commentOn(call)
      mayChange(call, comment)
      comment.body = bodyText(call, 'CommitComment')
      comment.updatedAt = world.timestamp()
      return ok(commitCommentView(world, comment))
    }),
    repoRoute('DELETE /comments/{comment_id}', { contents: 'write' }, (call) => {
      const comment = commentOn(call)
      mayChange(call, comment)
      call.repo.commitComments.splice(call.repo.commitComments.indexOf(comment), 1)
      return noContent()
    }),
  ]
}
