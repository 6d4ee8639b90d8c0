// The state of the sandbox's GitHub: accounts, repositories, pull requests, and their associated data. Plain records
// that the routes and user actions change. Git objects are stored on disk, not here.

import { defaultHourlyRateLimit, type RateLimits, type RateLimitUsage } from './http/rate-limit-types.ts'
import type { BranchProtection, Ruleset } from './branch-rules/rule-types.ts'
import type { MergeMethod } from './merge-method.ts'

export type CollaboratorRole = 'admin' | 'maintain' | 'write' | 'triage' | 'read'
export type GitHubPayload = Record<string, unknown>

export interface MockAccount {
  readonly github: MockGitHubData
  readonly id: number
  login: string
  readonly type: 'User' | 'Organization' | 'Bot'
  readonly createdAt: string
  /** A deleted account. GitHub shows null ("ghost") for it. */
  deleted: boolean
  /** The base permission of an organization for its repositories. */
  rulesets?: Map<number, Ruleset>
}

export interface Team {
  readonly id: number
  readonly organization: MockAccount
  readonly slug: string
  readonly members: Map<number, { role: 'member' | 'maintainer'; state: 'active' | 'pending' }>
}

export interface MockLabel {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly description: string | null
}

export interface MockComment {
  readonly id: number
  readonly author: MockAccount
  /** Set if an app wrote it. */
  readonly app: MockApp | null
  body: string
  readonly createdAt: string
  updatedAt: string
  /** The last edit. REST shows only its time, as `updated_at`, without the editor. */
  edit?: { readonly by: MockAccount; readonly at: string }
  readonly reactions: { readonly id: number; readonly author: MockAccount; readonly content: string }[]
}

export interface IssueComment extends MockComment {
  readonly repo: MockRepository
  readonly issue: number
}

export interface MockReview {
  readonly id: number
  readonly author: MockAccount
  body: string
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING'
  readonly sha: string
  readonly submittedAt: string
}

/** A comment on lines of a pull request's diff. */
export interface MockReviewComment {
  readonly id: number
  readonly review: number
  readonly author: MockAccount
  body: string
  readonly path: string
  /** A line of the new file, as of `sha`. */
  readonly line: number
  readonly startLine: number | null
  readonly sha: string
  /** The hunk up to the line. */
  readonly hunk: string
  readonly replyTo: number | null
  readonly createdAt: string
  updatedAt: string
  isMinimized: boolean
}

export interface MockPull {
  readonly id: number
  readonly repo: MockRepository
  readonly number: number
  readonly author: MockAccount
  title: string
  body: string | null
  state: 'open' | 'closed'
  draft: boolean
  locked: boolean
  /** Null once the fork is deleted. */
  headRepo: MockRepository | null
  readonly headOwner: MockAccount
  headRef: string
  headSha: string
  /** The user who last pushed the head. Their own approval does not count as an independent review. */
  lastPusher: MockAccount
  baseRef: string
  /** The base's tip when the head or the base branch was last set. GitHub does not update it with the branch. */
  baseSha: string
  readonly createdAt: string
  updatedAt: string
  closedAt: string | null
  merged: { readonly at: string; readonly by: MockAccount; readonly sha: string } | null
  /**
   * The last removal from its merge queue. The timeline shows GitHub's own bot unless a user or an App removed it.
   */
  queueRemoval?: {
    readonly id: number
    readonly at: string
    readonly reason: string
    readonly by: MockAccount | null
  }
  /** The test merge. Undefined until GitHub has computed it. */
  mergeable: boolean | undefined
  testMerge: string | null
  labels: MockLabel[]
  requestedUsers: MockAccount[]
  requestedTeams: Team[]
  reviews: MockReview[]
  reviewComments: MockReviewComment[]
  /** Unresolved conversations on code. */
  openConversations: number
  /** Whether users with write access to the base may push to the head in its fork, as the author chose. */
  maintainerCanModify: boolean
  comments: IssueComment[]
}

/** An issue that is not a pull request. */
export interface MockIssue {
  readonly id: number
  readonly repo: MockRepository
  readonly number: number
  readonly author: MockAccount
  /** Set if an app wrote it. */
  readonly app: MockApp | null
  title: string
  body: string | null
  state: 'open' | 'closed'
  stateReason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null
  locked: boolean
  readonly createdAt: string
  updatedAt: string
  closedAt: string | null
  closedBy: MockAccount | null
  labels: MockLabel[]
  comments: IssueComment[]
}

/** An issue or a pull request. For GitHub a pull request is also an issue, and both share one sequence of numbers. */
export type PullOrIssue = MockPull | MockIssue

export interface CheckRunAnnotation {
  readonly path: string
  readonly start_line: number
  readonly end_line: number
  readonly start_column?: number
  readonly end_column?: number
  readonly annotation_level: string
  readonly message: string
  readonly title?: string
  readonly raw_details?: string
}

export interface CheckSuite {
  readonly id: number
  readonly repo: MockRepository
  readonly app: MockApp
  readonly sha: string
  readonly branch: string | null
  readonly before: string | null
  readonly createdAt: string
  updatedAt: string
  readonly runs: MockCheckRun[]
}

export interface MockCheckRun {
  readonly id: number
  readonly suite: CheckSuite
  name: string
  status: string
  conclusion: string | null
  /** When it was last updated, in milliseconds. Rules see the update with a delay. */
  changedAt: number
  startedAt: string | null
  completedAt: string | null
  detailsUrl: string | null
  externalId: string | null
  title: string | null
  summary: string | null
  text: string | null
  annotations: CheckRunAnnotation[]
  actions: { readonly label: string; readonly description: string; readonly identifier: string }[]
}

export interface MockCommitStatus {
  readonly id: number
  readonly sha: string
  readonly context: string
  readonly state: 'error' | 'failure' | 'pending' | 'success'
  readonly description: string | null
  readonly targetUrl: string | null
  readonly creator: MockAccount
  readonly createdAt: string
  /** Like that of a check run. */
  readonly changedAt: number
}

export interface MockDeployment {
  readonly id: number
  readonly sha: string
  readonly ref: string
  readonly environment: string
  readonly description: string | null
  readonly isTransient: boolean
  readonly isProduction: boolean
  readonly creator: MockAccount
  readonly app: MockApp | null
  readonly createdAt: string
  /** Oldest first. */
  readonly statuses: DeploymentStatus[]
}

export interface DeploymentStatus {
  readonly id: number
  readonly state: 'error' | 'failure' | 'inactive' | 'in_progress' | 'queued' | 'pending' | 'success'
  readonly description: string
  readonly creator: MockAccount
  readonly app: MockApp | null
  readonly createdAt: string
}

/** Results of a code scanning tool for a commit. */
export interface CodeScanningAnalysis {
  readonly sha: string
  readonly tool: string
  readonly alerts: number
}

export interface Workflow {
  readonly id: number
  readonly file: string
  readonly name: string
  /** The types of repository_dispatch that start it. */
  readonly dispatchTypes: readonly string[]
  outcome: SimulatedWorkflowOutcome
  /** Milliseconds from queued to completed. */
  milliseconds: number
}
export type SimulatedWorkflowOutcome = 'success' | 'failure' | 'cancelled' | 'never'

export interface MockWorkflowRun {
  readonly id: number
  readonly workflow: Workflow
  readonly number: number
  readonly event: string
  readonly branch: string
  readonly sha: string
  readonly actor: MockAccount
  /** The dispatch's inputs or client payload, for assertions. */
  readonly inputs: GitHubPayload
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  readonly createdAt: string
  updatedAt: string
}

export interface MockRepository {
  readonly github: MockGitHubData
  readonly id: number
  readonly owner: MockAccount
  name: string
  /** The bare repository on disk. */
  readonly path: string
  defaultBranch: string
  readonly private: boolean
  readonly parent: MockRepository | null
  deleted: boolean
  archived: boolean
  readonly roles: Map<number, CollaboratorRole>
  readonly teamRoles: Map<number, CollaboratorRole>
  readonly pulls: Map<number, MockPull>
  readonly issues: Map<number, MockIssue>
  /** Issues can be disabled, but pull requests cannot. */
  hasIssues: boolean
  nextNumber: number
  readonly labels: Map<string, MockLabel>
  readonly suites: CheckSuite[]
  readonly statuses: MockCommitStatus[]
  readonly deployments: MockDeployment[]
  readonly analyses: CodeScanningAnalysis[]
  readonly workflows: Workflow[]
  readonly runs: MockWorkflowRun[]
  readonly rulesets: Map<number, Ruleset>
  /** Classic branch protection, by branch pattern. */
  readonly protections: Map<string, BranchProtection>
  readonly mergeMethods: Record<MergeMethod, boolean>
  /** Merge queues by branch, in merge order. */
  readonly queues: Map<string, MockMergeQueueEntry[]>
  /** The last known branches. The sandbox compares them with the current ones to find the changes of a push. */
  knownRefs: ReadonlyMap<string, string>
  readonly createdAt: string
  pushedAt: string
}

export type { MergeMethod } from './merge-method.ts'

export interface MockMergeQueueEntry {
  readonly id: number
  readonly pull: MockPull
  readonly headSha: string
  readonly by: MockAccount
  readonly enqueuedAt: number
  readonly jump: boolean
  /** Whether the user who enqueued it bypasses some of the rules. */
  readonly isBypass: boolean
  /** Set while its checks are requested. */
  group: QueuedMergeGroup | undefined
}

export interface QueuedMergeGroup {
  readonly branch: string
  readonly headSha: string
  readonly baseSha: string
  readonly baseRef: string
  readonly requestedAt: number
}

export type AppPermissions = Record<string, 'read' | 'write'>

export interface MockApp {
  readonly id: number
  readonly slug: string
  readonly owner: MockAccount
  readonly bot: MockAccount
  /** PEM. Its public half verifies the app's JWTs. */
  readonly privateKey: string
  /** The ID of its OAuth client, for users who sign in with it. */
  readonly clientSecret: string
  /** The allowed callback URLs for users. */
  callbackUrls: readonly string[]
  /** Null for an app without a hook. */
  readonly webhookSecret: string | null
  /** The destination of its webhooks. Undefined: the sandbox's common target. Null: no destination. */
  readonly webhookTarget: string | null | undefined
  readonly events: readonly string[]
  permissions: AppPermissions
  readonly createdAt: string
}

export interface Installation {
  readonly id: number
  readonly app: MockApp
  readonly account: MockAccount
  readonly repositories: Set<MockRepository>
  permissions: AppPermissions
  suspendedAt: string | null
  readonly createdAt: string
  /** The remainder of the primary rate limit, and its reset time (seconds since the epoch). */
  remaining: number
  resetsAt: number
  limits: RateLimits
  readonly use: RateLimitUsage
}

/** What sends webhooks to the apps: see webhooks.ts. */
export interface WebhookSender {
  emit(
    event: string,
    action: string | null,
    repo: MockRepository,
    sender: MockAccount,
    payload: GitHubPayload,
    only?: MockApp,
  ): void
  emitTo(
    installation: Installation,
    event: string,
    action: string | null,
    sender: MockAccount,
    payload: GitHubPayload,
    repo?: MockRepository | null,
  ): void
  settled(): Promise<void>
}

/** Everything that the sandbox's GitHub stores, and one task queue for each network of repositories. */
export class MockGitHubData {
  /** `http://127.0.0.1:port`, set once the server listens. */
  base = ''
  readonly directory: string
  readonly accounts = new Map<number, MockAccount>()
  readonly organizationOwners = new Map<number, Set<number>>()
  readonly teams: Team[] = []
  readonly repos = new Set<MockRepository>()
  readonly apps = new Map<number, MockApp>()
  readonly installations = new Map<number, Installation>()
  /** Commits whose signature GitHub can verify, with the signature. */
  readonly signatures = new Map<string, string>()
  /** The hourly request limit of a new installation. */
  readonly hourlyLimit: number
  /** How many milliseconds pass until rules see a new check or status. */
  checkDelay = 0
  /** How many milliseconds GitHub needs to compute a test merge. Until then a pull request is not mergeable. */
  testMergeDelay = 0
  /** The app that the conversion of a manifest code will create, once. */
  readonly manifests = new Map<string, () => MockApp>()
  webhooks: WebhookSender = {
    emit: () => undefined,
    emitTo: () => undefined,
    settled: () => Promise.resolve(),
  }
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called after a change that a merge queue may wait for: a check, a ref, a pull request. */
  queueDue: (repo: MockRepository) => void = () => undefined
  #lastId = 1_000_000
  readonly #lines = new WeakMap<MockRepository, Promise<unknown>>()
  readonly #work = new Set<Promise<unknown>>()

  constructor(directory: string, now: () => number, hourlyLimit = defaultHourlyRateLimit) {
    this.directory = directory
    this.now = now
    this.hourlyLimit = hourlyLimit
  }

  /** One counter for all kinds of IDs, so that an ID of the wrong kind never matches by accident. */
  nextId(): number {
    return ++this.#lastId
  }

  /** The time in GitHub's format: whole seconds, UTC. */
  timestamp(): string {
    return formatGitHubTimestamp(this.now())
  }

  /**
   * Runs `task` after all earlier tasks of the same network. Refs are compared before and after, so only one task
   * may move them.
   */
  async runSerialized<T>(repo: MockRepository, task: () => Promise<T>): Promise<T> {
    const root = repo.parent ?? repo
    const run = (this.#lines.get(root) ?? Promise.resolve()).then(task)
    const quiet = run.catch(() => undefined)
    this.#lines.set(root, quiet)
    return await run
  }

  /** Registers work that continues after an answer, so that shutdown can wait for it. */
  runInBackground(work: Promise<unknown>): void {
    const quiet = work.catch(() => undefined).finally(() => this.#work.delete(quiet))
    this.#work.add(quiet)
  }

  /** Resolves when no work is in progress: no computation after an answer, and no pending delivery. */
  async settled(): Promise<void> {
    do {
      await Promise.all(this.#work)
      await this.webhooks.settled()
    } while (this.#work.size > 0)
  }
}

export function formatGitHubTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Finds an account that is not deleted by login. GitHub compares logins case-insensitively. */
export function findAccountByLogin(state: MockGitHubData, login: string): MockAccount | undefined {
  const wanted = login.toLowerCase()
  return [...state.accounts.values()].find((it) => !it.deleted && it.login.toLowerCase() === wanted)
}

export function findRepositoryByName(
  state: MockGitHubData,
  owner: string,
  name: string,
): MockRepository | undefined {
  const account = findAccountByLogin(state, owner)
  const wanted = name.toLowerCase()
  return [...state.repos].find(
    (it) => !it.deleted && it.owner === account && it.name.toLowerCase() === wanted,
  )
}

const rolesByRank: readonly CollaboratorRole[] = ['read', 'triage', 'write', 'maintain', 'admin']

/**
 * The strongest role of a user in a repository, through ownership, teams, or directly. Undefined without a role.
 */
export function findCollaboratorRole(
  repo: MockRepository,
  account: MockAccount,
): CollaboratorRole | undefined {
  const { github } = repo
  const roles: (CollaboratorRole | undefined)[] = [
    repo.private ? undefined : 'read',
    repo.roles.get(account.id),
  ]
  if (repo.owner === account || github.organizationOwners.get(repo.owner.id)?.has(account.id) === true)
    roles.push('admin')
  for (const team of github.teams)
    if (team.members.get(account.id)?.state === 'active') roles.push(repo.teamRoles.get(team.id))
  return roles.reduce((best, role) => (getRoleRank(role) > getRoleRank(best) ? role : best), undefined)
}

function getRoleRank(role: CollaboratorRole | undefined): number {
  return role === undefined ? -1 : rolesByRank.indexOf(role)
}
export function canPushToRepository(repo: MockRepository, account: MockAccount): boolean {
  return getRoleRank(findCollaboratorRole(repo, account)) >= rolesByRank.indexOf('write')
}

/** A pull request or issue by its number. */
export function findPullOrIssue(repo: MockRepository, number: number): PullOrIssue | undefined {
  return repo.pulls.get(number) ?? repo.issues.get(number)
}

/** All pull requests of all repositories. */
export function* iterateAllPulls(state: MockGitHubData): Generator<MockPull> {
  for (const repo of state.repos) yield* repo.pulls.values()
}
