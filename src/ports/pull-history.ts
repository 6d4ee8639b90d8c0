// Records about pull requests that GitHub and Git don't provide. A recorded command never changes.
import type { CommitSha, PullNumber, UserId } from '../pull-request/ids.ts'
import type { GitHubAccount, RepositoryName } from '../pull-request/snapshot.ts'
import type { ApprovalCoverage } from '../checks/ownership/approvals.ts'
import type { ReportedPullHead } from '../policy/commands.ts'
import type { CommandRecord } from '../policy/command-records.ts'

/** A change in any of these starts a new epoch (docs/dev/threats.md#t21). */
export interface ObservedPullState {
  readonly head: CommitSha
  readonly baseRef: string
  readonly config: string
}

/** A head from a delivery, and the account that caused the delivery. */
export interface RecordedHeadPush {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly pusher: GitHubAccount
}

/** The effect of a pull request, as computed by coverage(). Equal changes have equal IDs. */
export interface PullChangeFingerprint {
  readonly id: string
  readonly covers: ApprovalCoverage
}

export interface PullHistoryStore {
  /**
   * Records the current state and resolves to the epoch, which starts at 0. It increases whenever the state differs from the
   * previous one, even if it returns to an earlier one.
   */
  observe(repository: RepositoryName, pull: PullNumber, state: ObservedPullState): Promise<number>
  /**
   * Records that catalog-bot's comment showed this head and change. `at`: GitHub's update time in ISO 8601 format. Repeating
   * the latest record has no effect, but going back to an earlier one does.
   */
  recordShown(repository: RepositoryName, pull: PullNumber, shown: ReportedPullHead): Promise<void>
  /** In the order in which they were shown. */
  shownHeads(repository: RepositoryName, pull: PullNumber): Promise<readonly ReportedPullHead[]>
  /** Records the result of a command, once per comment. A second record results in 'duplicate'. */
  recordCommand(
    repository: RepositoryName,
    pull: PullNumber,
    record: CommandRecord,
  ): Promise<'new' | 'duplicate'>
  commands(repository: RepositoryName, pull: PullNumber): Promise<readonly CommandRecord[]>
  /** The epoch in which each review was first seen. New reviews get `epoch`. */
  firstSeenReviews(
    repository: RepositoryName,
    pull: PullNumber,
    epoch: number,
    reviews: readonly number[],
  ): Promise<ReadonlyMap<number, number>>
  /** Stores the effect of a change, for comparison with later approvals. Idempotent. */
  recordChange?(repository: RepositoryName, pull: PullNumber, change: PullChangeFingerprint): Promise<void>
  /** The changes with these IDs. Omits unknown IDs. */
  readChanges?(
    repository: RepositoryName,
    pull: PullNumber,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ApprovalCoverage>>
  /** The change that each approval was for, by review ID, as first recorded. If absent, it is for the current state. */
  firstSeenApprovals?(
    repository: RepositoryName,
    pull: PullNumber,
    approvals: ReadonlyMap<number, string>,
  ): Promise<ReadonlyMap<number, string>>
  /** The account of each lowercase login, as first recorded (docs/dev/threats.md#t25). */
  firstSeenAccounts(
    repository: RepositoryName,
    accounts: ReadonlyMap<string, UserId>,
  ): Promise<ReadonlyMap<string, UserId>>
  /**
   * Accounts whose deliveries contained this head, in order. Empty if the deliveries were lost or are older than the records
   * (docs/dev/threats.md#t24). Absent if this implementation doesn't receive deliveries.
   */
  listPushers?(
    repository: RepositoryName,
    pull: PullNumber,
    head: CommitSha,
  ): Promise<readonly GitHubAccount[]>
  /** Whether any delivery had a head of this pull request. If so, others were lost (docs/dev/threats.md#t24). */
  hasSeenPushes?(repository: RepositoryName, pull: PullNumber): Promise<boolean>
  /**
   * The number of recorded commands in the last hour over all pull requests of a repository, by account
   * (docs/dev/threats.md#t46). Uses the clock of the implementation. Absent if commands aren't counted.
   */
  recentCommands?(repository: RepositoryName): Promise<ReadonlyMap<number, number>>
}
