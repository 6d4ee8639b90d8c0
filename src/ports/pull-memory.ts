// What must be remembered about pull requests, besides what GitHub and git say: epochs, which heads people were
// shown, which commands were carried out, when reviews and accounts were first seen. Append-only where people's
// words are concerned: a command is never changed after it was recorded.
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { Person, RepositoryName } from '../change/snapshot.ts'
import type { Coverage } from '../checks/ownership/ownership.ts'
import type { CommandRecord, ShownHead } from '../gate/commands.ts'

/** What an epoch is about: when one of these differs from what was seen last, a new epoch begins (T21). */
export interface PullState {
  readonly head: CommitSha
  readonly baseRef: string
  /** Digest of the configuration at the base. */
  readonly config: string
}

/** A head that a delivery brought, and the account that the delivery is about. */
export interface SeenPush {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly pusher: Person
}

/** What a pull request does, as coverage() says it, under an id that is equal for equal ones. */
export interface DescribedChange {
  readonly id: string
  readonly covers: Coverage
}

export interface PullMemory {
  /**
   * Tells what a pull request is like now; the answer is its epoch, from 0. Grows by one exactly when the state
   * differs from the last one told, also when it goes back to an older one.
   */
  observe(repository: RepositoryName, pull: PullNumber, state: PullState): Promise<number>
  /**
   * Remembers that our comment named this head and this change. `at`: GitHub's time of the comment's update, ISO 8601.
   * Showing again what was shown last changes nothing; going back to what was shown earlier does.
   */
  recordShown(repository: RepositoryName, pull: PullNumber, shown: ShownHead): Promise<void>
  /** Heads shown, in the order in which they were. */
  shownHeads(repository: RepositoryName, pull: PullNumber): Promise<readonly ShownHead[]>
  /** Remembers what became of a command. A comment is recorded once: a second record changes nothing and answers 'duplicate'. */
  recordCommand(
    repository: RepositoryName,
    pull: PullNumber,
    record: CommandRecord,
  ): Promise<'new' | 'duplicate'>
  /** Commands on record, in the order of their comments' ids. */
  commands(repository: RepositoryName, pull: PullNumber): Promise<readonly CommandRecord[]>
  /** The epoch in which each of these reviews was first seen; those never seen are remembered for `epoch`. */
  firstSeenReviews(
    repository: RepositoryName,
    pull: PullNumber,
    epoch: number,
    reviews: readonly number[],
  ): Promise<ReadonlyMap<number, number>>
  /** Keeps what a change does for those who agree to it. Repeating it changes nothing. */
  keepChange?(repository: RepositoryName, pull: PullNumber, change: DescribedChange): Promise<void>
  /** What was kept under these ids; those that were never kept are left out. */
  keptChanges?(
    repository: RepositoryName,
    pull: PullNumber,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Coverage>>
  /**
   * The id of the change that each approving review was for, by the review's id, as it was first remembered; new ones are
   * added, old ones stay. Absent, with the two above: this memory has no past, so reviews are of what there is now.
   */
  firstSeenApprovals?(
    repository: RepositoryName,
    pull: PullNumber,
    approvals: ReadonlyMap<number, string>,
  ): Promise<ReadonlyMap<number, string>>
  /** The account of each login, by lower-case login, as it was when first remembered; new ones are added, old ones stay (T25). */
  firstSeenAccounts(
    repository: RepositoryName,
    accounts: ReadonlyMap<string, UserId>,
  ): Promise<ReadonlyMap<string, UserId>>
  /**
   * Accounts whose deliveries brought this head, in the order in which they were first seen; none where the deliveries
   * were lost or came before our time (T24). Absent: this memory sees no deliveries.
   */
  pushersOf?(repository: RepositoryName, pull: PullNumber, head: CommitSha): Promise<readonly Person[]>
  /** Whether a delivery ever brought any head of this pull request: then those of other heads were lost (T24). */
  hasSeenPushes?(repository: RepositoryName, pull: PullNumber): Promise<boolean>
  /**
   * Commands on record of the last hour over all pull requests of a repository, by account (T46). The hour goes by the
   * memory's own clock. Absent: nobody is counted.
   */
  recentCommands?(repository: RepositoryName): Promise<ReadonlyMap<number, number>>
}
