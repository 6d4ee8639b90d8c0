// Comments on pull requests and commits: written by people's methods and by REST alike, told by the same webhooks.
import type { GitHubState } from './github-state.ts'
import { commentView, commitCommentView, issueView } from './views/pull-view.ts'
import type { Account, App, CommitComment, IssueComment, Payload, Pull, Repo } from './world.ts'

export function addComment(
  state: GitHubState,
  pull: Pull,
  author: Account,
  app: App | null,
  body: string,
): IssueComment {
  const at = state.world.timestamp()
  const base = { id: state.world.nextId(), author, app, body, createdAt: at, updatedAt: at, reactions: [] }
  const comment: IssueComment = { ...base, repo: pull.repo, issue: pull.number }
  pull.comments.push(comment)
  pull.updatedAt = at
  emitComment(state, pull, comment, 'created', author)
  return comment
}

export function changeComment(state: GitHubState, comment: IssueComment, body: string, by: Account): void {
  const changes = { body: { from: comment.body } }
  comment.body = body
  comment.updatedAt = state.world.timestamp()
  emitComment(state, pullOf(comment), comment, 'edited', by, { changes })
}

export function removeComment(state: GitHubState, comment: IssueComment, by: Account): void {
  const pull = pullOf(comment)
  pull.comments = pull.comments.filter((it) => it !== comment)
  emitComment(state, pull, comment, 'deleted', by)
}

export function findComment(repo: Repo, id: number): IssueComment | undefined {
  for (const pull of repo.pulls.values()) {
    const found = pull.comments.find((it) => it.id === id)
    if (found !== undefined) return found
  }
  return undefined
}

export function addCommitComment(
  state: GitHubState,
  repo: Repo,
  sha: string,
  author: Account,
  app: App | null,
  body: string,
  at: { readonly path: string | null; readonly position: number | null } = { path: null, position: null },
): CommitComment {
  const now = state.world.timestamp()
  const base = { id: state.world.nextId(), author, app, body, createdAt: now, updatedAt: now, reactions: [] }
  const comment: CommitComment = { ...base, repo, sha, ...at }
  repo.commitComments.push(comment)
  state.webhooks.emit('commit_comment', 'created', repo, author, {
    comment: commitCommentView(state.world, comment),
  })
  return comment
}

function pullOf(comment: IssueComment): Pull {
  const pull = comment.repo.pulls.get(comment.issue)
  if (pull === undefined) throw new Error(`comment ${comment.id} has no pull request`)
  return pull
}

function emitComment(
  state: GitHubState,
  pull: Pull,
  comment: IssueComment,
  action: string,
  by: Account,
  more: Payload = {},
): void {
  const issue = issueView(state.world, pull)
  state.webhooks.emit('issue_comment', action, pull.repo, by, {
    issue,
    comment: commentView(state.world, comment),
    ...more,
  })
}
