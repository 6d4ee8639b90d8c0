// Messages between the App and an evaluation process: plain values that can be copied.
import type { LookupRequest } from '../../checks/lookups.ts'
import type { PullSnapshot } from '../../pull-request/snapshot.ts'
import type { CommandDecision } from '../../policy/commands.ts'
import type { VerdictInput } from '../../policy/decide.ts'
import type { GitErrorResponse } from '../../adapters/git/git-error.ts'
import type { PullChangeFingerprint, PullHistoryStore } from '../../ports/pull-history.ts'
import type { SnapshotEvaluation } from '../evaluate.ts'
import type { EvaluationLimits } from '../../catalogs/reader-pool.ts'
import type { EvaluationReport } from '../../report/evaluation-report.ts'

export interface EvaluationRequest {
  readonly snapshot: PullSnapshot
  /** The folder of the repository's mirror, which has the snapshot's commits. */
  readonly mirror: string
  /** A folder that caches facts about files by content. */
  readonly facts: string
  readonly budget: EvaluationLimits
  /** Path to the administrator's opm. If absent, only catalog-bot's own catalog server is used. */
  readonly opm?: string
}

export type EvaluationResponse =
  | {
      readonly kind: 'seen'
      readonly configDigest: string
      readonly epoch: number
      readonly commands: readonly CommandDecision[]
      readonly carried?: SnapshotEvaluation['carried']
      readonly described?: PullChangeFingerprint | undefined
      readonly report: EvaluationReport
      /** The App makes the verdict: a permit cannot be copied, and a process that reads untrusted bytes issues none. */
      readonly gate: VerdictInput
    }
  | { readonly kind: 'too-large'; readonly why: string }
  | GitErrorResponse

/** Excludes records of what catalog-bot showed and what users wrote, because only the App writes them. */
export type WorkerPullHistoryStore = Omit<PullHistoryStore, 'recordShown' | 'recordCommand'>

export const workerPullHistoryMethods: Readonly<Record<keyof WorkerPullHistoryStore, true>> = {
  observe: true,
  shownHeads: true,
  commands: true,
  firstSeenReviews: true,
  firstSeenApprovals: true,
  recordChange: true,
  readChanges: true,
  firstSeenAccounts: true,
  listPushers: true,
  hasSeenPushes: true,
  recentCommands: true,
}

export type WorkerCallbackRequest =
  | { readonly kind: 'ask'; readonly question: LookupRequest }
  | { readonly kind: 'open-pulls' }
  | { readonly kind: 'memory'; readonly name: keyof WorkerPullHistoryStore; readonly args: unknown[] }
