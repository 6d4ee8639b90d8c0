// What must be remembered about pull requests, besides what GitHub and git say: epochs, which heads people were
// shown, which commands were carried out, when reviews and accounts were first seen. Append-only where people's
// words are concerned: a command is never changed after it was recorded.
import type { CommitSha, PullNumber, UserId } from '../change/ids.ts'
import type { Person, RepositoryName } from '../change/snapshot.ts'
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

export interface PullMemory {
  /**
   * Tells what a pull request is like now; the answer is its epoch, from 0. Grows by one exactly when the state
   * differs from the last one told, also when it goes back to an older one.
   */
  observe(repository: RepositoryName, pull: PullNumber, state: PullState): Promise<number>
  /** Remembers that our comment named this head. `at`: GitHub's time of the comment's update, ISO 8601. Repeating it changes nothing. */
  recordShown(repository: RepositoryName, pull: PullNumber, shown: ShownHead): Promise<void>
  /** Heads shown, oldest first. */
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
  /**
   * Commands on record of the last hour over all pull requests of a repository, by account (T46). The hour goes by the
   * memory's own clock. Absent: nobody is counted.
   */
  recentCommands?(repository: RepositoryName): Promise<ReadonlyMap<number, number>>
}
