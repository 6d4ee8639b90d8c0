// The request to an evaluation process, its response, and the evaluation that the App makes of the response. The next merge
// batch uses the evaluation that made the pull request ready once, instead of evaluating the same commits again.
import { LruMap } from '../adapters/lru-map.ts'
import type { Clock } from '../ports/clock.ts'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { VerdictInput } from '../policy/decide.ts'
import type { Config } from '../config/config.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import type { EvaluationReport } from '../report/evaluation-report.ts'
import type { SnapshotEvaluation } from './evaluate.ts'
import type { LookupRequest } from '../checks/lookups.ts'
import type { GitErrorResponse } from '../adapters/git/git-error.ts'
import type { EvaluationLimits } from '../catalogs/reader-pool.ts'

export interface EvaluationRequest {
  readonly snapshot: PullSnapshot
  /** The folder of the repository's mirror, which has the snapshot's commits. */
  readonly mirror: string
  /** A folder that caches facts about files by content. */
  readonly facts: string
  readonly budget: EvaluationLimits
  readonly demandsSignatures: boolean
  /** Path to the administrator's opm. If absent, only catalog-bot's own catalog server is used. */
  readonly opm?: string
}

/** What the process and the App know about an evaluation. Plain values that can be copied. */
interface EvaluatedPull extends Pick<
  SnapshotEvaluation,
  'configDigest' | 'epoch' | 'commands' | 'incoming' | 'described'
> {
  readonly report: EvaluationReport
  /** `/preview` and `/test-install`, as denied if their users lost the permission. */
  readonly runCommands: readonly CommandRecord[]
}

/** The App makes the verdict: a permit cannot be copied, and a process that reads untrusted bytes issues none. */
export type EvaluationResponse =
  | (EvaluatedPull & Pick<SnapshotEvaluation, 'verdictInput'> & { readonly kind: 'seen' })
  | { readonly kind: 'too-large'; readonly why: string }
  | GitErrorResponse

export interface PullEvaluation extends EvaluatedPull {
  readonly snapshot: PullSnapshot
  /** Milliseconds since the epoch. The answers of registries and GitHub are not older, unless they were cached. */
  readonly startedAt: number
  readonly verdict: PullVerdict
  /** Absent if the pull request could not be checked. */
  readonly verdictInput?: VerdictInput
  readonly hasPreviews: boolean
  readonly onCluster: Config['install']['cluster']
  readonly requiresCluster: boolean
  /** Seconds until the next scheduled evaluation. */
  readonly requeueAfterSeconds?: number | undefined
}

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

/** Milliseconds; a batch usually starts within one second. */
const maxReadyEvaluationAgeMs = 5000
const maxReadyEvaluations = 64

export class ReadyEvaluations {
  readonly #byPull: LruMap<string, PullEvaluation>

  constructor(clock: Clock) {
    const isOld = ({ startedAt }: PullEvaluation) => clock.now() - startedAt > maxReadyEvaluationAgeMs
    this.#byPull = new LruMap(maxReadyEvaluations, () => 1, isOld)
  }

  /** An evaluation with new commands is not cached, because the commands are recorded only afterwards. */
  add(evaluation: PullEvaluation): void {
    const { repository, pull } = evaluation.snapshot
    if (evaluation.commands.length === 0) this.#byPull.set(toPullRequestKey(repository, pull), evaluation)
  }

  /** Removes it, so that a second attempt to merge evaluates the pull request again. */
  take({ repository, pull }: PullSnapshot): PullEvaluation | undefined {
    const key = toPullRequestKey(repository, pull)
    const ready = this.#byPull.get(key)
    this.#byPull.delete(key)
    return ready
  }
}
