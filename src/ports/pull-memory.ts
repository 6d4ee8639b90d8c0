// What must be remembered about pull requests beyond what GitHub and git say. A recorded command never changes.
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { GitHubAccount, RepositoryName } from '../change/snapshot.ts'
import type { ApprovalCoverage } from '../checks/ownership/ownership.ts'
import type { CommandRecord, ShownHead } from '../gate/commands.ts'

/** A change in any of these starts a new epoch (T21). */
export interface PullState {
  readonly head: CommitSha
  readonly baseRef: string
  readonly config: string
}

/** A head from a delivery, and the account the delivery is about. */
export interface RecordedPush {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly pusher: GitHubAccount
}

/** What a pull request does, as coverage() says it. Equal changes have equal ids. */
export interface DescribedChange {
  readonly id: string
  readonly covers: ApprovalCoverage
}

export interface PullMemory {
  /**
   * Records the current state and answers with the epoch, from 0. It increases whenever the state differs from the last
   * one, even if it returns to an older one.
   */
  observe(repository: RepositoryName, pull: PullNumber, state: PullState): Promise<number>
  /**
   * Records that our comment named this head and change. `at`: GitHub's update time, ISO 8601. Repeating the last one
   * changes nothing; going back to an earlier one does.
   */
  recordShown(repository: RepositoryName, pull: PullNumber, shown: ShownHead): Promise<void>
  /** In the order they were shown. */
  shownHeads(repository: RepositoryName, pull: PullNumber): Promise<readonly ShownHead[]>
  /** Records a command's result once per comment. A second record answers 'duplicate'. */
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
  /** Keeps what a change does, for the people who agree to it. Idempotent. */
  recordChange?(repository: RepositoryName, pull: PullNumber, change: DescribedChange): Promise<void>
  /** The changes kept under these ids; unknown ids are left out. */
  readChanges?(
    repository: RepositoryName,
    pull: PullNumber,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ApprovalCoverage>>
  /**
   * The change that each approving review was for, by review id, as first remembered. Absent: reviews apply to the
   * present state.
   */
  firstSeenApprovals?(
    repository: RepositoryName,
    pull: PullNumber,
    approvals: ReadonlyMap<number, string>,
  ): Promise<ReadonlyMap<number, string>>
  /** The account of each lower-case login, as first remembered (T25). */
  firstSeenAccounts(
    repository: RepositoryName,
    accounts: ReadonlyMap<string, UserId>,
  ): Promise<ReadonlyMap<string, UserId>>
  /**
   * Accounts whose deliveries brought this head, in order; none if the deliveries were lost or are older than our
   * records (T24). Absent: this memory sees no deliveries.
   */
  listPushers?(
    repository: RepositoryName,
    pull: PullNumber,
    head: CommitSha,
  ): Promise<readonly GitHubAccount[]>
  /** Whether any delivery brought a head of this pull request. If so, deliveries of other heads were lost (T24). */
  hasSeenPushes?(repository: RepositoryName, pull: PullNumber): Promise<boolean>
  /**
   * Commands on record of the last hour over all pull requests of a repository, by account (T46). The hour goes by the
   * memory's own clock. Absent: nobody is counted.
   */
  recentCommands?(repository: RepositoryName): Promise<ReadonlyMap<number, number>>
}
