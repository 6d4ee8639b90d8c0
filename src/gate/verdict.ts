// What becomes of a pull request, always with reasons. A verdict holds for exactly one (head, base, config).
import type { CommitSha, TreeSha } from '../change/ids.ts'
import type { CheckOutcome, Waiting } from '../checks/check.ts'
import type { MergePermit } from './merge-permit.ts'

/** `merge`: is merged now. `wait`: people must act. `blocked`: the author must. `unknown`: the world has not answered. */
export type VerdictKind = 'merge' | 'wait' | 'blocked' | 'unknown'

export interface Reason {
  /** A stable word for machines: `findings`, `approval`, `draft`, `conflict`, `unanswered`, `label`, `stopped`, ... */
  readonly code: ReasonCode
  /** One sentence for people, without a full stop. */
  readonly text: string
  readonly who?: readonly string[]
}

export type ReasonCode =
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

export interface Verdict {
  readonly kind: VerdictKind
  readonly reasons: readonly Reason[]
  readonly head: CommitSha
  readonly base: CommitSha
  readonly baseRef: string
  readonly config: string
  /** The validated merge result; absent when head and base do not merge. */
  readonly result?: { readonly commit: CommitSha; readonly tree: TreeSha }
  readonly outcomes: readonly CheckOutcome[]
  readonly waiting: readonly Waiting[]
  /** Present exactly when `kind` is `merge`. */
  readonly permit?: MergePermit
  /** For `unknown`, and where other Apps' checks or answers to an optional check are waited for: seconds until asking again. */
  readonly retryAfter?: number
}

/** What judging a merged commit on its real parent came to. */
export type MergedVerdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid' | 'unknown'; readonly reasons: readonly string[] }
