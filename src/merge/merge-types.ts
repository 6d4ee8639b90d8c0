// The types that the steps of a merge share: options, plan, preparation, and outcome.
import type { CommitSha } from '../pull-request/ids.ts'
import type { BranchRules } from '../policy/branch-rules.ts'
import type { MergedCommitVerdict } from '../policy/verdict.ts'
import type { MergePlan, MergeStrategy } from '../policy/merge-strategy.ts'
import type { SnapshotEvaluation } from '../evaluate/evaluate.ts'
import type { MergeRejection } from './classify-rejection.ts'
import type { Clock } from '../ports/clock.ts'
import type { CheckRunContent, Forge } from '../ports/forge.ts'
import type { MergeApi, MergeRejectionMessage } from '../ports/merge-api.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { Store } from '../ports/store.ts'
import type { MergePermit } from '../policy/merge-permit.ts'

/** The interface of every merge method: preparation, then one action that updates the branch. */
export interface MergeAttempt extends PlannedMerge {
  readonly permit: MergePermit
  readonly options: MergeOptions
  /** The permits of a batch that ends with this one. The push includes all of them. */
  readonly batch?: readonly MergePermit[]
}

export type MergePreparationResult = PreparedMerge | RejectedMerge

export interface PreparedMerge {
  readonly kind: 'ready'
  readonly method: MergeStrategy
  /** The commit to push, or the validated merge if GitHub creates the merge. */
  readonly commit: CommitSha
  /** Updates the branch, directly or through GitHub. Repeat only after a clear rejection. Rejects if the outcome is unknown. */
  readonly act: () => Promise<MergeActionResult>
}

export type MergeActionResult =
  { readonly kind: 'done' } | { readonly kind: 'race'; readonly why: string } | RejectedMerge

export type MergeOutcome =
  | { readonly kind: 'landed'; readonly commit: CommitSha }
  | { readonly kind: 'again'; readonly why: string }
  /** Another merge into this branch is running, or its outcome is unknown. */
  | { readonly kind: 'busy' }
  /** In GitHub's merge queue. A webhook or the sweep triggers another evaluation. */
  | { readonly kind: 'queued' }
  /** GitHub rejects the merge because of this pull request or its branch. */
  | { readonly kind: 'refused'; readonly rejection: MergeRejection }
  /** The branch does not match what was validated. Merging must be frozen. */
  | { readonly kind: 'mismatch'; readonly mismatch: MergeTreeMismatch }

/** A rejection before its message is classified. */
export interface RejectedMerge {
  readonly kind: 'refused'
  /** One line of text for users. */
  readonly reason: string
  /** GitHub's message. Absent if no request was sent to GitHub. */
  readonly response?: GitHubMergeRejection
  /** Set if the message does not show the scope. */
  readonly scope?: 'pull' | 'branch'
  /** The commit to be merged, and whether GitHub signed it. Rules about commits list the offending ones. */
  readonly commit?: CommitSha
  readonly isSigned?: boolean
}

export type RecordedMergeOutcome = Parameters<Store['finishMerge']>[1]

export type GitHubMergeRejection = MergeRejectionMessage | { readonly by: 'push'; readonly text: string }

/** The intended merge, the commit found on the branch, and a description of the difference. */
export interface MergeTreeMismatch {
  readonly intent: MergeIntent
  readonly found?: CommitSha
  readonly differs: string
}

/** The plan, and the rules behind it. */
export interface PlannedMerge {
  readonly plan: Pick<MergePlan, 'method'> & Partial<MergePlan>
  readonly rules?: BranchRules
  /** Set if the plan has no method: whether only this pull request or the whole branch is affected. */
  readonly shutFor?: 'pull' | 'branch'
}

export interface MergeRecoveryOptions {
  readonly repository: GitRepository
  readonly merging: MergeApi
  readonly store: Store
  readonly clock: Clock
  /**
   * Evaluates a merge by GitHub on a base other than the validated one: `commit` merges the intent's head into `base`.
   * Absent if such a merge cannot be evaluated.
   */
  readonly auditMerge?: (
    intent: MergeIntent,
    base: CommitSha,
    commit: CommitSha,
  ) => Promise<MergedCommitVerdict>
  /**
   * Enqueues what follows a merge. Runs before the intent closes, so a process that crashes in between enqueues it
   * again when the merge is recovered.
   */
  readonly onMerged?: (intent: MergeIntent) => Promise<void>
  /** Freezes the branch and reports the mismatch. Runs before the intent closes, so a failure is retried. */
  readonly onMismatch: (mismatch: MergeTreeMismatch) => Promise<void>
  /** Called after the outcome is recorded. */
  readonly onEnded?: (outcome: RecordedMergeOutcome) => void
}

export interface MergeOptions extends MergeRecoveryOptions {
  readonly forge: Forge
  readonly plan: () => Promise<PlannedMerge>
  /** catalog-bot's check runs on the head. They are copied to the merge if rules require them there. */
  readonly checks: readonly CheckRunContent[]
}

export interface EvaluatedPullSnapshot extends Pick<SnapshotEvaluation, 'snapshot'> {
  readonly incoming?: SnapshotEvaluation['incoming'] | undefined
  /** The epoch of the evaluation. Absent if epochs are not counted. */
  readonly epoch?: number
}
