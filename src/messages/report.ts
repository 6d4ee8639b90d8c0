// What people see of a verdict: check runs with annotations, the one comment, and suggestions. All say the same, because all
// are made here from the same value. Renders; decides nothing.
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
  /** `kept`: edited where it is there already, and else not written. `unwanted`: neither. */
  readonly commentIs: 'wanted' | 'kept' | 'unwanted'
  /** Undefined where the repository wants none: then those that are there are left alone. */
  readonly suggestions?: readonly Suggestion[] | undefined
}

/** Check runs, comment and suggestions for a verdict. Every text of others in them is escaped. */
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
