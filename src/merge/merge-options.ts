import type { CommitSha } from '../change/ids.ts'
import type { BranchRules } from '../gate/branch-rules.ts'
import type { MergedCommitVerdict } from '../gate/verdict.ts'
import type { MergePlan } from '../gate/merge-strategy.ts'
import type { Evaluation } from '../evaluate/evaluate.ts'
import type { MergeRejection } from './classify-rejection.ts'
import type { Clock } from '../ports/clock.ts'
import type { CheckRunContent, Forge } from '../ports/forge.ts'
import type { MergeApi, RejectionMessage } from '../ports/merge-api.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { Store } from '../ports/store.ts'

export type MergeOutcome =
  | { readonly kind: 'landed'; readonly commit: CommitSha }
  | { readonly kind: 'again'; readonly why: string }
  /** Another landing on this branch runs, or its outcome is unknown. */
  | { readonly kind: 'busy' }
  /** In GitHub's merge queue. A webhook or the sweep looks again. */
  | { readonly kind: 'queued' }
  /** GitHub refuses it because of this pull request or its branch. */
  | { readonly kind: 'refused'; readonly refusal: MergeRejection }
  /** The branch holds something other than what was validated. Landings must stop. */
  | { readonly kind: 'mismatch'; readonly mismatch: TreeMismatch }

/** A refusal before its words are classified. */
export interface RejectedMerge {
  readonly kind: 'refused'
  /** One line, for people. */
  readonly reason: string
  /** GitHub's words. Absent: GitHub wasn't asked. */
  readonly words?: GitHubRejection
  /** Set where the words don't tell. */
  readonly scope?: 'pull' | 'branch'
  /** The commit to be merged, and whether GitHub signed it. Rules about commits list the offending ones. */
  readonly commit?: CommitSha
  readonly isSigned?: boolean
}

export type RecordedMergeOutcome = Parameters<Store['finishMerge']>[1]

export type GitHubRejection = RejectionMessage | { readonly by: 'push'; readonly text: string }

/** The landing, what the branch holds instead, and the difference in words. */
export interface TreeMismatch {
  readonly intent: MergeIntent
  readonly found?: CommitSha
  readonly differs: string
}

/** The plan, and the rules behind it. */
export interface PlannedMerge {
  readonly plan: Pick<MergePlan, 'method'> & Partial<MergePlan>
  readonly rules?: BranchRules
  /** Set if the plan has no method: whether another pull request could land. */
  readonly shutFor?: 'pull' | 'branch'
}

export interface RecoverOptions {
  readonly repository: GitRepository
  readonly merging: MergeApi
  readonly store: Store
  readonly clock: Clock
  /**
   * Judges a merge by GitHub on a base other than the validated one: `commit` merges the intent's head onto `base`.
   * Absent: can't be judged.
   */
  readonly judgeMerged?: (
    intent: MergeIntent,
    base: CommitSha,
    commit: CommitSha,
  ) => Promise<MergedCommitVerdict>
  /** Stops the branch and reports it. Runs before the intent closes, so a failure is retried by the next process. */
  readonly onMismatch: (mismatch: TreeMismatch) => Promise<void>
  /** Called once the outcome is recorded. */
  readonly onEnded?: (outcome: RecordedMergeOutcome) => void
}

export interface MergeOptions extends RecoverOptions {
  readonly forge: Forge
  readonly leaseSeconds: number
  readonly plan: () => Promise<PlannedMerge>
  /** Our check runs on the head. They are copied to the merge if rules require that. */
  readonly checks: readonly CheckRunContent[]
}

export interface EvaluatedPull extends Pick<Evaluation, 'snapshot'> {
  readonly carried?: Evaluation['carried'] | undefined
  /** The epoch of the judgment. Absent: epochs aren't counted. */
  readonly epoch?: number
}
