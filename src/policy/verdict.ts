// A verdict applies to exactly one (head, base, config).
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import type { CheckOutcome, MergeUnblockingAction } from '../checks/check.ts'
import type { MergePermit } from './merge-permit.ts'

/** `merge`: merge now. `wait`: someone must act. `blocked`: the author must act. `unknown`: responses are missing. */
export type VerdictKind = 'merge' | 'wait' | 'blocked' | 'unknown'

export interface VerdictReason {
  /** For machines: `findings`, `approval`, `draft`, `conflict`, `unanswered`, `label`, `stopped`, ... */
  readonly code: VerdictReasonCode
  /** Text for users, without a period. */
  readonly text: string
  readonly who?: readonly string[]
}

export type VerdictReasonCode =
  | 'findings'
  | 'approval'
  | 'unanswered'
  | 'draft'
  | 'closed'
  | 'conflict'
  | 'nothing-to-merge'
  | 'label'
  | 'held'
  | 'removed-from-queue'
  | 'stacked'
  | 'stopped'
  | 'refused'
  | 'merge-disabled'
  | 'author-unknown'
  | 'snapshot-stale'
  | 'empty'
  | 'too-large'
  | 'malformed'
  | 'required-check'
  | 'required-check-failed'
  | 'all-checks-passed'

export interface PullVerdict {
  readonly kind: VerdictKind
  readonly reasons: readonly VerdictReason[]
  readonly head: CommitSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly config: string
  /** Absent if head and base do not merge. */
  readonly result?: { readonly commit: CommitSha; readonly tree: TreeSha }
  readonly outcomes: readonly CheckOutcome[]
  readonly waiting: readonly MergeUnblockingAction[]
  readonly permit?: MergePermit
  /** Seconds until the next retry, for `unknown` and while checks of other Apps or an optional check are open. */
  readonly retryAfter?: number
}

export type MergedCommitVerdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid' | 'unknown'; readonly reasons: readonly string[] }
