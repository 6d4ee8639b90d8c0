// Actions on pull requests by any caller: opening, editing, labels, reviews, and review requests.
import { isAncestor, setRef } from './git/git-store.ts'
import { closePull, emitPullRequestEvent, createCheckSuites } from './git/ref-changes.ts'
import { GitHubApiError, createValidationError } from './http/route.ts'
import { changeTitleAndBody } from './issues.ts'
import { toAccountView, toTeamView } from './views/account-view.ts'
import { toLabelView, toPullSummaryView, toReviewView } from './views/pull-view.ts'
import { iterateAllPulls } from './github-data.ts'
import type { MockAccount, MockLabel, MockPull, MockRepository, MockReview, Team } from './github-data.ts'

export interface CreatePullInput {
  readonly author: MockAccount
  readonly headRepo: MockRepository
  readonly headRef: string
  readonly baseRef: string
  readonly title: string
  readonly body?: string | null
  readonly draft?: boolean
  readonly maintainerCanModify?: boolean
}

/** Opens a pull request for an existing branch. Throws GitHub's 422 if there are no changes. */
export async function createPull(repo: MockRepository, request: CreatePullInput): Promise<MockPull> {
  const { github } = repo
  const {
    author,
    headRepo,
    headRef,
    baseRef,
    title,
    body = null,
    draft = false,
    maintainerCanModify = true,
  } = request
  const headSha = headRepo.knownRefs.get(`refs/heads/${headRef}`)
  const baseSha = repo.knownRefs.get(`refs/heads/${baseRef}`)
  if (headSha === undefined) throw createValidationError('PullRequest', 'head')
  if (baseSha === undefined) throw createValidationError('PullRequest', 'base')
  const validationError = (message: string): GitHubApiError =>
    new GitHubApiError(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message }])
  if (await isAncestor(repo.path, headSha, baseSha))
    throw validationError(`No commits between ${baseRef} and ${headRef}`)
  for (const other of iterateAllPulls(github))
    if (
      other.repo === repo &&
      other.state === 'open' &&
      other.headRepo === headRepo &&
      other.headRef === headRef &&
      other.baseRef === baseRef
    )
      throw validationError(`A pull request already exists for ${headRepo.owner.login}:${headRef}.`)
  const at = github.timestamp()
  const pull: MockPull = {
    id: github.nextId(),
    repo,
    number: repo.nextNumber++,
    author,
    title,
    body,
    state: 'open',
    draft,
    locked: false,
    headRepo,
    headOwner: headRepo.owner,
    headRef,
    headSha,
    lastPusher: author,
    baseRef,
    baseSha,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    merged: null,
    mergeable: undefined,
    testMerge: null,
    labels: [],
    requestedUsers: [],
    requestedTeams: [],
    reviews: [],
    reviewComments: [],
    openConversations: 0,
    maintainerCanModify: headRepo !== repo && maintainerCanModify,
    comments: [],
  }
  await setRef(repo.path, `refs/pull/${pull.number}/head`, headSha)
  repo.pulls.set(pull.number, pull)
  if (headRepo !== repo) await createCheckSuites(repo, headSha, headRef, null, author)
  await emitPullRequestEvent(pull, 'opened', author)
  return pull
}

export interface PullChanges {
  readonly title?: string
  readonly body?: string
  readonly base?: string
  readonly state?: 'open' | 'closed'
}

/** Edits a pull request like `PATCH /pulls/{number}`: title, text, base, open or closed. */
export async function editPull(pull: MockPull, changes: PullChanges, by: MockAccount): Promise<void> {
  const edited = changeTitleAndBody(pull, changes)
  if (changes.base !== undefined && changes.base !== pull.baseRef) {
    const sha = pull.repo.knownRefs.get(`refs/heads/${changes.base}`)
    if (sha === undefined) throw createValidationError('PullRequest', 'base')
    edited['base'] = { ref: { from: pull.baseRef }, sha: { from: pull.baseSha } }
    pull.baseRef = changes.base
    pull.baseSha = sha
    pull.mergeable = undefined
  }
  if (Object.keys(edited).length > 0) await emitPullRequestEvent(pull, 'edited', by, { changes: edited })
  if (changes.state === 'closed' && pull.state === 'open') await closePull(pull, by)
  if (changes.state === 'open' && pull.state === 'closed') await reopenPull(pull, by)
}

async function reopenPull(pull: MockPull, by: MockAccount): Promise<void> {
  if (pull.merged !== null || pull.headRepo === null)
    throw new GitHubApiError(422, 'Validation Failed', [
      { resource: 'PullRequest', field: 'state', code: 'invalid', message: 'state cannot be changed.' },
    ])
  pull.state = 'open'
  pull.closedAt = null
  pull.mergeable = undefined
  await emitPullRequestEvent(pull, 'reopened', by)
}

export async function setPullDraft(pull: MockPull, draft: boolean, by: MockAccount): Promise<void> {
  if (pull.draft === draft) return
  pull.draft = draft
  await emitPullRequestEvent(pull, draft ? 'converted_to_draft' : 'ready_for_review', by)
}

/** A repository's label. Created if it does not exist. */
function findOrCreateLabel(repo: MockRepository, name: string): MockLabel {
  const known = repo.labels.get(name.toLowerCase())
  if (known !== undefined) return known
  const label = { id: repo.github.nextId(), name, color: 'ededed', description: null }
  repo.labels.set(name.toLowerCase(), label)
  return label
}

export async function addPullLabel(pull: MockPull, name: string, by: MockAccount): Promise<void> {
  const label = findOrCreateLabel(pull.repo, name)
  if (pull.labels.includes(label)) return
  pull.labels.push(label)
  await emitPullRequestEvent(pull, 'labeled', by, { label: toLabelView(pull.repo, label) })
}

export async function removePullLabel(pull: MockPull, name: string, by: MockAccount): Promise<void> {
  const label = pull.labels.find((it) => it.name.toLowerCase() === name.toLowerCase())
  if (label === undefined) return
  pull.labels = pull.labels.filter((it) => it !== label)
  await emitPullRequestEvent(pull, 'unlabeled', by, { label: toLabelView(pull.repo, label) })
}

export async function requestReviews(
  pull: MockPull,
  users: readonly MockAccount[],
  teams: readonly Team[],
  by: MockAccount,
): Promise<void> {
  if (users.includes(pull.author))
    throw new GitHubApiError(422, 'Review cannot be requested from pull request author.')
  for (const user of users.filter((it) => !pull.requestedUsers.includes(it))) {
    pull.requestedUsers.push(user)
    await emitPullRequestEvent(pull, 'review_requested', by, { requested_reviewer: toAccountView(user) })
  }
  for (const team of teams.filter((it) => !pull.requestedTeams.includes(it))) {
    pull.requestedTeams.push(team)
    await emitPullRequestEvent(pull, 'review_requested', by, { requested_team: toTeamView(team) })
  }
}

export type ReviewEvent = 'APPROVE' | 'REQUEST_CHANGES' | 'COMMENT'
const reviewStateByEvent = {
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
  COMMENT: 'COMMENTED',
} as const

/**
 * Submits a review of `sha` (default: the head). Without an event, the review remains pending and sends no webhook.
 */
export function addReview(
  pull: MockPull,
  author: MockAccount,
  event: ReviewEvent | undefined,
  body: string,
  sha: string = pull.headSha,
): MockReview {
  const { github } = pull.repo
  if (author === pull.author && event !== undefined && event !== 'COMMENT') {
    const verbPhrase = event === 'APPROVE' ? 'approve' : 'request changes on'
    throw new GitHubApiError(422, 'Unprocessable Entity', [`Can not ${verbPhrase} your own pull request`])
  }
  const review: MockReview = {
    id: github.nextId(),
    author,
    body,
    state: event === undefined ? 'PENDING' : reviewStateByEvent[event],
    sha,
    submittedAt: github.timestamp(),
  }
  pull.reviews.push(review)
  pull.requestedUsers = pull.requestedUsers.filter((it) => it !== author)
  if (event !== undefined) emitReviewEvent(pull, review, 'submitted', author)
  return review
}

export function dismissReview(pull: MockPull, review: MockReview, by: MockAccount): void {
  if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED')
    throw new GitHubApiError(422, 'Can not dismiss a commented pull request review')
  review.state = 'DISMISSED'
  emitReviewEvent(pull, review, 'dismissed', by)
}

function emitReviewEvent(pull: MockPull, review: MockReview, action: string, by: MockAccount): void {
  const { github } = pull.repo
  github.queueDue(pull.repo)
  const view = toReviewView(pull, review)
  // REST uses uppercase for a review's state, and webhooks do not.
  github.webhooks.emit('pull_request_review', action, pull.repo, by, {
    review: { ...view, state: review.state.toLowerCase() },
    pull_request: toPullSummaryView(pull),
  })
}
