// Evaluations of pull requests that just became ready. The merge batch that follows uses each once, instead of
// evaluating the same commits again.
import { LruMap } from '../adapters/lru-map.ts'
import type { Clock } from '../ports/clock.ts'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { PullEvaluation } from './evaluate-snapshot.ts'

/** Milliseconds; a batch usually starts within one second. */
const maxReadyEvaluationAgeMs = 5000
const maxReadyEvaluations = 64

interface ReadyEvaluation {
  readonly evaluation: PullEvaluation
  /** When the evaluation started. */
  readonly startedAt: number
}

export class ReadyEvaluations {
  readonly #byPull: LruMap<string, ReadyEvaluation>

  constructor(clock: Clock) {
    const isOld = ({ startedAt }: ReadyEvaluation) => clock.now() - startedAt > maxReadyEvaluationAgeMs
    this.#byPull = new LruMap(maxReadyEvaluations, () => 1, isOld)
  }

  add(evaluation: PullEvaluation, startedAt: number): void {
    const { repository, pull } = evaluation.snapshot
    this.#byPull.set(toPullRequestKey(repository, pull), { evaluation, startedAt })
  }

  /** Removes it, so that a second attempt to merge evaluates the pull request again. */
  take({ repository, pull }: PullSnapshot): ReadyEvaluation | undefined {
    const key = toPullRequestKey(repository, pull)
    const ready = this.#byPull.get(key)
    this.#byPull.delete(key)
    return ready
  }
}
