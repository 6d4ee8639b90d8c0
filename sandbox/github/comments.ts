// Comments on pull requests and issues, from user actions and from REST, with the same webhooks.
import { toCommentView, toIssueView } from './views/pull-view.ts'
import { findPullOrIssue } from './github-data.ts'
import type {
  MockAccount,
  MockApp,
  IssueComment,
  GitHubPayload,
  MockRepository,
  PullOrIssue,
} from './github-data.ts'

export function addComment(
  thread: PullOrIssue,
  author: MockAccount,
  app: MockApp | null,
  body: string,
): IssueComment {
  const { github } = thread.repo
  const at = github.timestamp()
  const base = { id: github.nextId(), author, app, body, createdAt: at, updatedAt: at, reactions: [] }
  const comment: IssueComment = { ...base, repo: thread.repo, issue: thread.number }
  thread.comments.push(comment)
  thread.updatedAt = at
  emitCommentEvent(thread, comment, 'created', author)
  return comment
}

export function updateCommentBody(comment: IssueComment, body: string, by: MockAccount): void {
  const changes = { body: { from: comment.body } }
  comment.body = body
  comment.updatedAt = comment.repo.github.timestamp()
  comment.edit = { by, at: comment.updatedAt }
  emitCommentEvent(findCommentedPullOrIssue(comment), comment, 'edited', by, { changes })
}

export function removeComment(comment: IssueComment, by: MockAccount): void {
  const thread = findCommentedPullOrIssue(comment)
  thread.comments = thread.comments.filter((it) => it !== comment)
  emitCommentEvent(thread, comment, 'deleted', by)
}

export function findComment(repo: MockRepository, id: number): IssueComment | undefined {
  const threads = [...repo.pulls.values(), ...repo.issues.values()]
  return threads.flatMap((it) => it.comments).find((it) => it.id === id)
}

function findCommentedPullOrIssue(comment: IssueComment): PullOrIssue {
  const thread = findPullOrIssue(comment.repo, comment.issue)
  if (thread === undefined)
    throw new Error(`comment ${comment.id} does not belong to a pull request or an issue`)
  return thread
}

function emitCommentEvent(
  thread: PullOrIssue,
  comment: IssueComment,
  action: string,
  by: MockAccount,
  more: GitHubPayload = {},
): void {
  const issue = toIssueView(thread)
  thread.repo.github.webhooks.emit('issue_comment', action, thread.repo, by, {
    issue,
    comment: toCommentView(comment),
    ...more,
  })
}
