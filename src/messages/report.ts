// Renders a verdict as check runs, comment and suggestions from one value, so that all agree.
import { checkIds } from '../findings/checks.ts'
import type { Verdict } from '../gate/verdict.ts'
import { reportCheck } from './check-runs.ts'
import { composeComment } from './comment.ts'
import { needsPeople } from './next-steps.ts'
import type { ReportOptions } from './report-options.ts'
import type { ReportedCheck } from './reported-check.ts'
import { suggestionsOf, type Suggestion } from './suggestions.ts'

export { commentMarker } from './comment.ts'
export { checkPrefix, namesOfChecks, ownChecks } from './reported-check.ts'
export type { ReportedAnnotation, ReportedCheck } from './reported-check.ts'

export interface Report {
  readonly checks: readonly ReportedCheck[]
  readonly comment: string
  /** `kept`: an existing comment is edited, but none is created. `unwanted`: neither. */
  readonly commentIs: 'wanted' | 'kept' | 'unwanted'
  /** Undefined where the repository wants none: existing ones are left alone. */
  readonly suggestions?: readonly Suggestion[] | undefined
}

/** Escapes untrusted text. */
export function composeReport(verdict: Verdict, options: ReportOptions): Report {
  return {
    checks: checkIds.map((id) => ({
      ...reportCheck(id, verdict, options),
      ...(options.statusPage !== undefined && { detailsUrl: options.statusPage }),
    })),
    comment: composeComment(verdict, options),
    commentIs: commentIs(verdict, options),
    ...(options.suggestions === true && { suggestions: suggestionsOf(verdict, options) }),
  }
}

function commentIs(
  verdict: Verdict,
  { comment = 'always', landed, published, traceId }: ReportOptions,
): Report['commentIs'] {
  if (comment === 'never') return 'unwanted'
  if (comment === 'always' || traceId !== undefined) return 'wanted'
  if (landed !== undefined) return published?.state === 'failed' ? 'wanted' : 'kept'
  return needsPeople(verdict) ? 'wanted' : 'kept'
}
