// Renders a verdict as check runs, a comment, and suggestions from one value, so that they are consistent.
import { checkIds } from '@catalog-bot/findings/checks'
import type { PullVerdict } from '../policy/verdict.ts'
import { renderCheck } from './check-runs.ts'
import { renderComment } from './comment.ts'
import { needsHumanAction } from './next-steps.ts'
import type { ReportOptions } from './report-options.ts'
import type { ReportedCheck } from './reported-check.ts'
import { renderReviewSuggestions, type ReviewSuggestion } from './suggestions.ts'

export { commentMarker } from './comment.ts'
export { checkNamePrefix, toPrefixedCheckNames, botCheckNames } from './reported-check.ts'
export type { ReportedAnnotation, ReportedCheck } from './reported-check.ts'

export interface PullReport {
  readonly checks: readonly ReportedCheck[]
  readonly comment: string
  /** `kept`: an existing comment is edited, but no comment is created. `unwanted`: neither. */
  readonly commentIs: 'wanted' | 'kept' | 'unwanted'
  /** Undefined if suggestions are disabled. Existing suggestions are not changed. */
  readonly suggestions?: readonly ReviewSuggestion[] | undefined
}

/** Escapes untrusted text. */
export function renderReport(verdict: PullVerdict, options: ReportOptions): PullReport {
  return {
    checks: checkIds.map((id) => ({
      ...renderCheck(id, verdict, options),
      ...(options.statusPage !== undefined && { detailsUrl: options.statusPage }),
    })),
    comment: renderComment(verdict, options),
    commentIs: decideCommentAction(verdict, options),
    ...(options.suggestions === true && { suggestions: renderReviewSuggestions(verdict, options) }),
  }
}

function decideCommentAction(
  verdict: PullVerdict,
  { comment = 'always', landed, published, traceId }: ReportOptions,
): PullReport['commentIs'] {
  if (comment === 'never') return 'unwanted'
  if (comment === 'always' || traceId !== undefined) return 'wanted'
  if (landed !== undefined) return published?.state === 'failed' ? 'wanted' : 'kept'
  return needsHumanAction(verdict) ? 'wanted' : 'kept'
}
