// Actions on issues by any caller: opening, editing, closing, and reopening, with their webhooks.
import type { MockGitHubState } from './github-state.ts'
import { toIssueView } from './views/pull-view.ts'
import type { MockAccount, MockApp, MockIssue, GitHubPayload, MockRepository } from './github-data.ts'

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
  state: MockGitHubState,
  repo: MockRepository,
  { author, app = null, title, body = null }: CreateIssueOptions,
): MockIssue {
  const at = state.world.timestamp()
  const issue: MockIssue = {
    id: state.world.nextId(),
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
  emitIssueEvent(state, issue, 'opened', author)
  return issue
}

export function editIssue(
  state: MockGitHubState,
  issue: MockIssue,
  changes: IssueChanges,
  by: MockAccount,
): void {
  const edited: GitHubPayload = {}
  if (changes.title !== undefined && changes.title !== issue.title) {
    edited['title'] = { from: issue.title }
    issue.title = changes.title
  }
  if (changes.body !== undefined && changes.body !== issue.body) {
    edited['body'] = { from: issue.body ?? '' }
    issue.body = changes.body
  }
  issue.updatedAt = state.world.timestamp()
  if (Object.keys(edited).length > 0) emitIssueEvent(state, issue, 'edited', by, { changes: edited })
  if (changes.state === undefined || changes.state === issue.state) return
  const closes = changes.state === 'closed'
  issue.state = changes.state
  issue.stateReason = closes ? (changes.reason ?? 'completed') : 'reopened'
  issue.closedAt = closes ? issue.updatedAt : null
  issue.closedBy = closes ? by : null
  emitIssueEvent(state, issue, closes ? 'closed' : 'reopened', by)
}

function emitIssueEvent(
  state: MockGitHubState,
  issue: MockIssue,
  action: string,
  by: MockAccount,
  more: GitHubPayload = {},
): void {
  state.webhooks.emit('issues', action, issue.repo, by, { issue: toIssueView(state.world, issue), ...more })
}
