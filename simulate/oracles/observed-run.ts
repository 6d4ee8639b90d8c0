// What the oracles are given: the world itself, and which calls moved it.
import type { CommitSha, PullNumber } from '../../src/change/ids.ts'
import type { MergePermit } from '../../src/gate/merge-permit.ts'
import type { StoreTables } from '../ports/memory-store.ts'
import type { SimulatedProcess } from '../scheduler.ts'
import type { SimulatedGitHub } from '../world/simulated-github.ts'

export interface InvariantViolation {
  /** As docs/threats.md numbers them. */
  readonly invariant: string
  readonly what: string
}

/** The bot moves a base branch, or has GitHub move it: told just before it happens. */
export interface ObservedMerge {
  readonly process: SimulatedProcess
  readonly pull: PullNumber
  readonly permit: MergePermit
  readonly by: 'push' | 'merge'
  readonly commit: CommitSha
  /** What it lands on: the tip of the branch, or in a train the one before it. */
  readonly on: CommitSha
  readonly step: number
  readonly at: number
}

export interface ObservedRun {
  readonly server: SimulatedGitHub
  /** The store's rows: looked at for intents and leases alone. */
  readonly tables: StoreTables
  readonly merges: ObservedMerge[]
  /** By process and pull request: the step at which all was so that its last look before a landing said. */
  readonly freshReads: Map<string, number>
  /** Looks at pull requests that came to their end undisturbed: what was read is as of `since`. */
  readonly evaluations: { readonly pull: PullNumber; readonly since: number; readonly until: number }[]
  /** When each process took its last lease. */
  readonly leasesTaken: Map<SimulatedProcess, number>
  /**
   * Whether a job was taken again while a process that had stood still was at it: nothing on GitHub keeps the two of them from
   * writing the same thing. Of check runs who reads sees the newest; a second comment is a fault that is known
   * (docs/simulator.md).
   */
  hadTwins: boolean
  /** Jobs that failed by a fault of ours. */
  readonly ownFailures: { readonly job: string; readonly error: Error }[]
}
