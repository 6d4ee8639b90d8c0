// What a landing works with and what it ends with. Types alone.
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
  /** Something moved: look again from the start. */
  | { readonly kind: 'again'; readonly why: string }
  /** Another landing on this branch is under way, or it is not known yet how one ended. */
  | { readonly kind: 'busy' }
  /** It waits in GitHub's merge queue: its webhook, or the sweep, looks again. */
  | { readonly kind: 'queued' }
  /** GitHub does not take it, for a reason of this pull request or of its branch. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** What got onto the branch is not what was validated. Landings must stop. */
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }

/** A refusal before its words are sorted. */
export interface RefusedLanding {
  readonly kind: 'refused'
  /** For people, one line. */
  readonly reason: string
  /** As GitHub said it; absent where GitHub was not even asked. */
  readonly words?: LandingWords
  /** What it concerns, where the words alone would not tell: this pull request, or all of the branch. */
  readonly scope?: 'pull' | 'branch'
  /** What was to be merged, and whether GitHub signed it: rules about commits name those that break them. */
  readonly commit?: CommitSha
  readonly isSigned?: boolean
}

export type LandingEnd = Parameters<Store['endLanding']>[1]

export type LandingWords = RefusalWords | { readonly by: 'push'; readonly text: string }

/** The landing whose outcome is not the validated one, what lies on the branch instead, and what differs, in words. */
export interface Mismatch {
  readonly intent: Intent
  readonly found?: CommitSha
  readonly differs: string
}

/** How one pull request is to land: the plan, and the rules that it was made from. */
export interface Planned {
  readonly plan: Pick<LandingPlan, 'method'> & Partial<LandingPlan>
  readonly rules?: BranchRules
  /** Where the plan has no method: whether another pull request could land on this branch. */
  readonly shutFor?: 'pull' | 'branch'
}

/** What it takes to learn how landings ended. */
export interface SettleOptions {
  readonly repository: Repository
  readonly merging: Merging
  readonly store: Store
  readonly clock: Clock
  /**
   * Judges what GitHub merged on another base than the validated one: `commit` is the real merge of the intent's head onto
   * `base`. Absent: it cannot be judged.
   */
  readonly judgeMerged?: (intent: Intent, base: CommitSha, commit: CommitSha) => Promise<MergedVerdict>
  /** Stops the branch and tells people. Called before the intent is closed: should it fail, the next to come does it. */
  readonly onMismatch: (mismatch: Mismatch) => Promise<void>
  /** Hears how each landing ended, once it is written down. */
  readonly onEnded?: (outcome: LandingEnd) => void
}

export interface LandOptions extends SettleOptions {
  readonly forge: Forge
  readonly leaseSeconds: number
  readonly plan: () => Promise<Planned>
  /** Our check runs for this pull request, as they stand on its head: where rules want them on the merge, they are put there. */
  readonly checks: readonly CheckRun[]
}

/** What the permit was made out for. */
export interface Examined extends Pick<Examination, 'snapshot'> {
  readonly carried?: Examination['carried'] | undefined
  /** Of the pull request, when it was judged. Absent: nobody counts them. */
  readonly epoch?: number
}
