import type { CommentPolicy } from '../config/config.ts'
import type { BaseBranchBreakage } from './describe-base-breaks.ts'
import type { ChannelHeadConflict } from './describe-head-conflict.ts'
import type { SuggestedFixForFinding, TracedFindingLine } from './traced-line.ts'

/** What a report shows in addition to the verdict. Computed in the evaluation process, and stored with the verdict. */
export interface EvaluationReport {
  /** One sentence of Markdown. */
  readonly summary?: string | undefined
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
  readonly change?: string | undefined
  /** Absent: not traced. */
  readonly lines?: readonly TracedFindingLine[] | undefined
  readonly fixes?: readonly SuggestedFixForFinding[] | undefined
  /** Conflicting changes that were merged into the base since the pull request was opened. */
  readonly moved?: readonly ChannelHeadConflict[] | undefined
  /** Who broke the base, if the errors are on it already. */
  readonly baseBreaks?: readonly BaseBranchBreakage[] | undefined
  /** Whether the repository wants a comment and suggestions. */
  readonly comment?: CommentPolicy | undefined
  readonly suggestions?: boolean | undefined
}
