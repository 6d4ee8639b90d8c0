// Actions on issues by any caller: opening, editing, closing, and reopening, with their webhooks.
import { toIssueView } from './views/pull-view.ts'
import type {
  MockAccount,
  MockApp,
  MockIssue,
  GitHubPayload,
  MockRepository,
  PullOrIssue,
} from './github-data.ts'

export interface CreateIssueOptions {
  readonly author: MockAccount
  /** The app that performs the action, if any. */
  readonly app?: MockApp | null
  readonly title: string
  readonly body?: string | null
}

export interface IssueChanges {
  readonly title?: string
  readonly body?: string | null
  readonly state?: 'open' | 'closed'
  readonly reason?: 'completed' | 'not_planned' | 'duplicate'
}

export function createIssue(
  repo: MockRepository,
  { author, app = null, title, body = null }: CreateIssueOptions,
): MockIssue {
  const { github } = repo
  const at = github.timestamp()
  const issue: MockIssue = {
    id: github.nextId(),
    repo,
    number: repo.nextNumber++,
    author,
    app,
    title,
    body,
    state: 'open',
    stateReason: null,
    locked: false,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    closedBy: null,
    labels: [],
    comments: [],
  }
  repo.issues.set(issue.number, issue)
  emitIssueEvent(issue, 'opened', author)
  return issue
}

/** Returns the replaced values, as webhooks show them. */
export function changeTitleAndBody(
  thread: PullOrIssue,
  { title, body }: Pick<IssueChanges, 'title' | 'body'>,
): GitHubPayload {
  const edited: GitHubPayload = {}
  if (title !== undefined && title !== thread.title) {
    edited['title'] = { from: thread.title }
    thread.title = title
  }
  if (body !== undefined && body !== thread.body) {
    edited['body'] = { from: thread.body ?? '' }
    thread.body = body
  }
  return edited
}

export function editIssue(issue: MockIssue, changes: IssueChanges, by: MockAccount): void {
  const edited = changeTitleAndBody(issue, changes)
  issue.updatedAt = issue.repo.github.timestamp()
  if (Object.keys(edited).length > 0) emitIssueEvent(issue, 'edited', by, { changes: edited })
  if (changes.state === undefined || changes.state === issue.state) return
  const closes = changes.state === 'closed'
  issue.state = changes.state
  issue.stateReason = closes ? (changes.reason ?? 'completed') : 'reopened'
  issue.closedAt = closes ? issue.updatedAt : null
  issue.closedBy = closes ? by : null
  emitIssueEvent(issue, closes ? 'closed' : 'reopened', by)
}

function emitIssueEvent(issue: MockIssue, action: string, by: MockAccount, more: GitHubPayload = {}): void {
  issue.repo.github.webhooks.emit('issues', action, issue.repo, by, { issue: toIssueView(issue), ...more })
}
