import type { CommitSha } from '../change/ids.ts'
import type { BranchRules } from '../gate/branch-rules.ts'
import type { MergedVerdict } from '../gate/verdict.ts'
import type { LandingPlan } from '../gate/landing-method.ts'
import type { Examination } from '../examine/examine.ts'
import type { Refusal } from './classify-refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { CheckRun, Forge } from '../ports/forge.ts'
import type { Merging, RefusalWords } from '../ports/merging.ts'
import type { Repository } from '../ports/repository.ts'
import type { Intent } from '../ports/landings.ts'
import type { Store } from '../ports/store.ts'

export type LandingOutcome =
  | { readonly kind: 'landed'; readonly commit: CommitSha }
  | { readonly kind: 'again'; readonly why: string }
  /** Another landing on this branch runs, or its outcome is unknown. */
  | { readonly kind: 'busy' }
  /** In GitHub's merge queue. A webhook or the sweep looks again. */
  | { readonly kind: 'queued' }
  /** GitHub refuses it because of this pull request or its branch. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The branch holds something other than what was validated. Landings must stop. */
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }

/** A refusal before its words are classified. */
export interface RefusedLanding {
  readonly kind: 'refused'
  /** One line, for people. */
  readonly reason: string
  /** GitHub's words. Absent: GitHub wasn't asked. */
  readonly words?: LandingWords
  /** Set where the words don't tell. */
  readonly scope?: 'pull' | 'branch'
  /** The commit to be merged, and whether GitHub signed it. Rules about commits list the offending ones. */
  readonly commit?: CommitSha
  readonly isSigned?: boolean
}

export type LandingEnd = Parameters<Store['endLanding']>[1]

export type LandingWords = RefusalWords | { readonly by: 'push'; readonly text: string }

/** The landing, what the branch holds instead, and the difference in words. */
export interface Mismatch {
  readonly intent: Intent
  readonly found?: CommitSha
  readonly differs: string
}

/** The plan, and the rules behind it. */
export interface Planned {
  readonly plan: Pick<LandingPlan, 'method'> & Partial<LandingPlan>
  readonly rules?: BranchRules
  /** Set if the plan has no method: whether another pull request could land. */
  readonly shutFor?: 'pull' | 'branch'
}

export interface SettleOptions {
  readonly repository: Repository
  readonly merging: Merging
  readonly store: Store
  readonly clock: Clock
  /**
   * Judges a merge by GitHub on a base other than the validated one: `commit` merges the intent's head onto `base`.
   * Absent: can't be judged.
   */
  readonly judgeMerged?: (intent: Intent, base: CommitSha, commit: CommitSha) => Promise<MergedVerdict>
  /** Stops the branch and reports it. Runs before the intent closes, so a failure is retried by the next process. */
  readonly onMismatch: (mismatch: Mismatch) => Promise<void>
  /** Called once the outcome is recorded. */
  readonly onEnded?: (outcome: LandingEnd) => void
}

export interface LandOptions extends SettleOptions {
  readonly forge: Forge
  readonly leaseSeconds: number
  readonly plan: () => Promise<Planned>
  /** Our check runs on the head. They are copied to the merge if rules require that. */
  readonly checks: readonly CheckRun[]
}

export interface Examined extends Pick<Examination, 'snapshot'> {
  readonly carried?: Examination['carried'] | undefined
  /** The epoch of the judgment. Absent: epochs aren't counted. */
  readonly epoch?: number
}
