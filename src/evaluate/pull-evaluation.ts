// The result of evaluating a pull request. The merge batch that follows uses the evaluation that made the pull request
// ready once, instead of evaluating the same commits again.
import { LruMap } from '../adapters/lru-map.ts'
import type { Clock } from '../ports/clock.ts'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { CommandDecision } from '../policy/commands.ts'
import type { VerdictInput } from '../policy/decide.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import type { PullChangeFingerprint } from '../ports/pull-history.ts'
import type { EvaluationReport } from '../report/evaluation-report.ts'
import type { SnapshotEvaluation } from './evaluate.ts'

export interface PullEvaluation {
  readonly snapshot: PullSnapshot
  /** Milliseconds since the epoch. The answers of registries and GitHub are not older, unless they were cached. */
  readonly startedAt: number
  readonly configDigest: string
  readonly epoch: number
  readonly commands: readonly CommandDecision[]
  readonly report: EvaluationReport
  /** The commits that a merge would bring. If absent, it cannot merge. */
  readonly carried?: SnapshotEvaluation['carried']
  /** Approvals bind to this description of the change. */
  readonly described?: PullChangeFingerprint | undefined
  readonly verdict: PullVerdict
  /** Absent if the pull request could not be checked. */
  readonly gate?: VerdictInput
  readonly hasPreviews: boolean
  readonly onCluster: 'off' | 'asked' | 'automatic'
  readonly requiresCluster: boolean
  /** Seconds until the next scheduled evaluation. */
  readonly requeueAfterSeconds?: number | undefined
}

/** Milliseconds; a batch usually starts within one second. */
const maxReadyEvaluationAgeMs = 5000
const maxReadyEvaluations = 64

export class ReadyEvaluations {
  readonly #byPull: LruMap<string, PullEvaluation>

  constructor(clock: Clock) {
    const isOld = ({ startedAt }: PullEvaluation) => clock.now() - startedAt > maxReadyEvaluationAgeMs
    this.#byPull = new LruMap(maxReadyEvaluations, () => 1, isOld)
  }

  /** An evaluation with new commands is not kept, because they are on record only afterwards. */
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
