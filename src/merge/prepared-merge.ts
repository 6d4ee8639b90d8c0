// The interface of every merge method: preparation, then one action that updates the branch.
import type { CommitSha } from '../pull-request/ids.ts'
import type { MergePermit } from '../policy/merge-permit.ts'
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import type { MergeOptions, PlannedMerge, RejectedMerge } from './merge-options.ts'

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
