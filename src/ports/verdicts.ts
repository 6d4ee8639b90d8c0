// The latest decision on each pull request, for status pages.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'

export interface VerdictRecord {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly base: CommitSha
  readonly config: string
  readonly verdict: string
  /** JSON with the reasons and findings as shown to users. */
  readonly report: unknown
  /** Milliseconds since the epoch. */
  readonly decidedAt: number
}

export interface VerdictStore {
  /** Stores the latest verdict per (repository, pull, head, base, config). */
  recordVerdict(record: VerdictRecord): Promise<void>
  /** Newest first. */
  verdicts(repository: RepositoryName, pull: PullNumber): Promise<readonly VerdictRecord[]>
}
