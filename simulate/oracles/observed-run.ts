// The input of the oracles: the simulated state itself, and the calls that changed it.
import type { CommitSha, PullNumber } from '../../src/pull-request/ids.ts'
import type { MergePermit } from '../../src/policy/merge-permit.ts'
import type { InMemoryStoreTables } from '../ports/memory-store.ts'
import type { SimulatedProcess } from '../scheduler.ts'
import type { SimulatedGitHub } from '../world/simulated-github.ts'

export interface InvariantViolation {
  /** As numbered in docs/dev/threats.md. */
  readonly invariant: string
  readonly what: string
}

/** catalog-bot is about to move a base branch, or to have GitHub move it. */
export interface ObservedMerge {
  readonly process: SimulatedProcess
  readonly pull: PullNumber
  readonly permit: MergePermit
  readonly by: 'push' | 'merge'
  readonly commit: CommitSha
  /** The commit that it merges into: the tip of the branch or, in a batch, the previous merge. */
  readonly on: CommitSha
  readonly step: number
  readonly at: number
}

export interface ObservedSimulationRun {
  readonly server: SimulatedGitHub
  /** The store's rows. Only intents and leases are read. */
  readonly tables: InMemoryStoreTables
  readonly merges: ObservedMerge[]
  /**
   * By process and pull request: the step at which everything was as the last evaluation before a merge reported
   * it.
   */
  readonly freshReads: Map<string, number>
  /** Evaluations of pull requests that finished without interruption. Their data is as of `since`. */
  readonly evaluations: { readonly pull: PullNumber; readonly since: number; readonly until: number }[]
  /** When each process last took a lease. */
  readonly leasesTaken: Map<SimulatedProcess, number>
  /**
   * Whether another process took a job while the process that had it was paused. Nothing on GitHub prevents the two
   * processes from writing the same thing. Readers see only the newest check run, but a second comment is a known
   * fault (docs/dev/simulator.md).
   */
  hadTwins: boolean
  /** Jobs that failed because of a bug in catalog-bot. */
  readonly ownFailures: { readonly job: string; readonly error: Error }[]
}
