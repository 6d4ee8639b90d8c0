// The true state of GitHub in a run: one repository with its branches, pull requests, comments, and checks. Users and
// catalog-bot act on it. Every state of a pull request and of a branch is stored with the step at which it started,
// so the oracles can look up past states.
import { toPullNumber, type CommitSha, type PullNumber, type TreeSha } from '../../src/pull-request/ids.ts'
import type { GitHubAccount, RepositoryName, PullReview } from '../../src/pull-request/snapshot.ts'
import { mergeTrees } from '../git/merge.ts'
import { GitObjects } from '../git/git-objects.ts'
import { hasAncestor } from '../git/history.ts'
import { SimulatedPeople } from './people.ts'

export interface SimulatedComment {
  readonly id: number
  readonly author: GitHubAccount
  readonly body: string
  /** Milliseconds since the epoch. GitHub shows whole seconds. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly isEdited: boolean
  readonly reactions: readonly string[]
}

export interface SimulatedPull {
  readonly number: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly draft: boolean
  readonly title: string
  readonly author: GitHubAccount
  readonly head: CommitSha
  readonly baseRef: string
  /** The tip of the base branch when the head was pushed or the base was chosen: GitHub's `base.sha`. */
  readonly shownBase: CommitSha
  /** Whether it is stacked on another pull request. */
  readonly stacked: boolean
  readonly labels: readonly string[]
  readonly reviews: readonly PullReview[]
  readonly comments: readonly SimulatedComment[]
  readonly createdAt: number
  readonly updatedAt: number
  /** The merge commit. */
  readonly merged?: CommitSha
  /** The step since which the current head and base branch have been in effect. */
  readonly headSince: number
  readonly requested: readonly string[]
}

export interface SimulatedCheckRun {
  readonly id: number
  readonly name: string
  readonly app: number
  readonly digest: string
  readonly status: string
  readonly conclusion?: string
  readonly text: string
}

export interface SimulatedBranchRules {
  /** catalog-bot's checks are required on every pushed commit, unless the head contains the base. */
  readonly requiredChecks: readonly string[]
  readonly linear: boolean
  readonly locked: boolean
}

export const noBranchRules: SimulatedBranchRules = { requiredChecks: [], linear: false, locked: false }

export interface SimulatedIssue {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly state: 'open' | 'closed'
  readonly comments: readonly string[]
}

export interface SimulatedWebhookDelivery {
  readonly guid: string
  readonly event: string
  readonly payload: object
}

/** A state and the step since which it has been in effect. */
export interface TimestampedValue<T> {
  readonly step: number
  readonly at: number
  readonly value: T
}

const botLogin = 'catalog-bot[bot]'
export const appId = 77
export const installationId = 5
export const mainBranch = 'main'

const defaultCommitIdentity = 'people <people@example.invalid>'

export class SimulatedGitHub {
  readonly name: RepositoryName = { owner: 'coast', name: 'catalogs' }
  readonly objects = new GitObjects()
  readonly people = new SimulatedPeople()
  readonly bot: GitHubAccount
  readonly branches = new Map<string, TimestampedValue<CommitSha | undefined>[]>()
  readonly pulls = new Map<PullNumber, TimestampedValue<SimulatedPull>[]>()
  readonly checks = new Map<CommitSha, SimulatedCheckRun[]>()
  readonly issues: SimulatedIssue[] = []
  readonly deliveries: SimulatedWebhookDelivery[] = []
  rules: SimulatedBranchRules = noBranchRules
  /** Suggestions, dispatches, and other catalog-bot actions that have no field above. */
  readonly others: string[] = []
  readonly #time: () => { step: number; now: number }
  #ids = 1000

  constructor(time: () => { step: number; now: number }) {
    this.#time = time
    this.bot = this.people.add(botLogin)
  }

  get now(): number {
    return this.#time().now
  }
  get step(): number {
    return this.#time().step
  }
  id(): number {
    return (this.#ids += 1)
  }

  /** The state that users can see, as a string. Two equal strings are indistinguishable states for all users. */
  get state(): string {
    const last = <T>(lists: ReadonlyMap<unknown, readonly TimestampedValue<T>[]>) =>
      [...lists].map(([name, states]) => [name, states.at(-1)?.value])
    return JSON.stringify([last(this.branches), last(this.pulls), this.rules, this.people.roles()])
  }

  tip(branch: string): CommitSha | undefined {
    return this.branches.get(branch)?.at(-1)?.value
  }
  mustTip(branch: string): CommitSha {
    const tip = this.tip(branch)
    if (tip === undefined) throw new Error(`there is no branch ${branch}`)
    return tip
  }
  pull(number: PullNumber): SimulatedPull | undefined {
    return this.pulls.get(number)?.at(-1)?.value
  }
  openPulls(): readonly SimulatedPull[] {
    return [...this.pulls.keys()].flatMap((number) => {
      const pull = this.pull(number)
      return pull?.state === 'open' ? [pull] : []
    })
  }

  moveBranch(branch: string, to: CommitSha | undefined, by: GitHubAccount): void {
    const { step, now } = this.#time()
    const before = this.branches.get(branch) ?? []
    this.branches.set(branch, [...before, { step, at: now, value: to }])
    if (to === undefined) return
    this.deliver('push', { ref: `refs/heads/${branch}` }, by)
    this.#closeMerged(branch, to, by)
  }

  /** Like GitHub, marks a pull request as merged when its base contains its head. */
  #closeMerged(branch: string, tip: CommitSha, by: GitHubAccount): void {
    for (const pull of this.openPulls())
      if (pull.baseRef === branch && hasAncestor(this.objects, tip, pull.head)) {
        this.changePull(pull.number, { state: 'merged', merged: tip })
        this.deliverPull('closed', pull.number, by)
      }
  }

  commit(
    tree: TreeSha,
    parents: readonly CommitSha[],
    message: string,
    by = defaultCommitIdentity,
  ): CommitSha {
    return this.objects.addCommit({ tree, parents, message, by, time: Math.floor(this.now / 1000) })
  }

  openPull(
    pull: Pick<SimulatedPull, 'title' | 'author' | 'head' | 'baseRef' | 'draft' | 'stacked'>,
  ): PullNumber {
    const { step, now } = this.#time()
    const number = toPullNumber(this.pulls.size + 1)
    const value: SimulatedPull = {
      ...pull,
      number,
      shownBase: this.mustTip(pull.baseRef),
      state: 'open',
      labels: [],
      reviews: [],
      comments: [],
      requested: [],
      createdAt: now,
      updatedAt: now,
      headSince: step,
    }
    this.pulls.set(number, [{ step, at: now, value }])
    this.deliverPull('opened', number, pull.author)
    return number
  }

  changePull(number: PullNumber, change: Partial<SimulatedPull>): void {
    const states = this.pulls.get(number)
    const before = states?.at(-1)
    if (states === undefined || before === undefined) return
    const { step, now } = this.#time()
    const isOther =
      (change.head !== undefined && change.head !== before.value.head) ||
      (change.baseRef !== undefined && change.baseRef !== before.value.baseRef)
    const shownBase = isOther ? this.tip(change.baseRef ?? before.value.baseRef) : undefined
    const value = {
      ...before.value,
      updatedAt: now,
      ...(isOther && { headSince: step }),
      ...(shownBase && { shownBase }),
      ...change,
    }
    states.push({ step, at: now, value })
  }

  addComment(number: PullNumber, author: GitHubAccount, body: string): number {
    const pull = this.pull(number)
    if (pull === undefined) return 0
    const id = this.id()
    const { now } = this
    const comment: SimulatedComment = {
      id,
      author,
      body,
      createdAt: now,
      updatedAt: now,
      isEdited: false,
      reactions: [],
    }
    this.changePull(number, { comments: [...pull.comments, comment] })
    this.deliver('issue_comment', this.#aboutComment(number, author, 'created', author), author)
    return id
  }

  changeComment(
    number: PullNumber,
    id: number,
    change: Partial<SimulatedComment> | undefined,
    by: GitHubAccount,
  ): void {
    const pull = this.pull(number)
    const before = pull?.comments.find((comment) => comment.id === id)
    if (pull === undefined || before === undefined) return
    const comments = pull.comments.flatMap((comment) =>
      comment.id !== id ? [comment] : change === undefined ? [] : [{ ...comment, ...change }],
    )
    this.changePull(number, { comments })
    const action = change === undefined ? 'deleted' : 'edited'
    this.deliver('issue_comment', this.#aboutComment(number, before.author, action, by), by)
  }

  #aboutComment(number: PullNumber, author: GitHubAccount, action: string, sender: GitHubAccount): object {
    const isApp = author.kind === 'bot'
    return {
      action,
      issue: { number, pull_request: {} },
      comment: {
        user: { id: author.id, type: isApp ? 'Bot' : 'User' },
        performed_via_github_app: isApp ? { id: appId } : null,
      },
      sender: { id: sender.id, type: sender.kind === 'bot' ? 'Bot' : 'User' },
    }
  }

  deliverPull(action: string, number: PullNumber, by: GitHubAccount): void {
    const pull = this.pull(number)
    if (pull === undefined) return
    this.deliver('pull_request', { action, pull_request: { number, head: { sha: pull.head } } }, by)
  }

  deliver(event: string, payload: object, sender: GitHubAccount): void {
    const { owner, name } = this.name
    this.deliveries.push({
      guid: `delivery-${this.id()}`,
      event,
      payload: {
        sender: { id: sender.id, login: sender.login, type: sender.kind === 'bot' ? 'Bot' : 'User' },
        ...payload,
        repository: { name, owner: { login: owner } },
        installation: { id: installationId },
      },
    })
  }

  /** GitHub's error for a push of a merge commit to a branch. Undefined if GitHub accepts it. */
  findRejectionReason(branch: string, commit: CommitSha): string | undefined {
    if (branch !== mainBranch) return undefined
    const { rules } = this
    const { parents } = this.objects.commit(commit)
    if (rules.locked) return 'Cannot change this locked branch'
    if (rules.linear && parents.length > 1) return 'This branch must not contain merge commits.'
    const [base, head] = parents
    const isUpToDate = base !== undefined && head !== undefined && hasAncestor(this.objects, head, base)
    const judged = [commit, ...(isUpToDate ? [head] : [])]
    const open = rules.requiredChecks.filter((name) => !judged.some((each) => this.#isGreen(each, name)))
    const [first] = open
    if (first === undefined) return undefined
    return open.length === 1
      ? `Required status check "${first}" is expected.`
      : `${open.length} of ${rules.requiredChecks.length} required status checks are expected.`
  }

  #isGreen(commit: CommitSha, name: string): boolean {
    const runs = (this.checks.get(commit) ?? []).filter((run) => run.name === name && run.app === appId)
    return runs.at(-1)?.conclusion === 'success'
  }

  /** Merges a pull request into its current base as GitHub does, or returns the reason for a rejection. */
  mergeByGitHub(
    number: PullNumber,
    method: 'merge' | 'squash' | 'rebase',
    by: GitHubAccount,
    message: string,
  ): string | undefined {
    const pull = this.pull(number)
    if (pull?.state !== 'open') return 'Pull request is not mergeable'
    const base = this.mustTip(pull.baseRef)
    const merged = mergeTrees(this.objects, base, pull.head)
    if (merged.kind !== 'clean') return 'Pull request is not mergeable'
    if (this.rules.locked) return 'Cannot change this locked branch'
    const parents = method === 'merge' ? [base, pull.head] : [base]
    const commit = this.commit(merged.tree, parents, message, 'GitHub <noreply@github.com>')
    this.changePull(number, { state: 'merged', merged: commit })
    this.moveBranch(pull.baseRef, commit, by)
    this.deliverPull('closed', number, by)
    return undefined
  }

  /** The state from a list that was in effect at a step: the last one that started at or before it. */
  static at<T>(states: readonly TimestampedValue<T>[], step: number): T | undefined {
    return states.findLast((state) => state.step <= step)?.value
  }

  seconds(time: number): string {
    return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}
