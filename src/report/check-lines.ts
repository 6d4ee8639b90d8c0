// Formats each check as one line of plain text. The page escapes it.
import type { CheckOutcome } from '../checks/check.ts'
import { countFindings, formatFindingCounts } from './count-findings.ts'

/** `validation: 1 error`, `images: passed`. In the order of the outcomes. */
export function formatCheckOutcomeLines(outcomes: readonly CheckOutcome[]): readonly string[] {
  return outcomes.map((outcome) => `${outcome.check}: ${formatCheckOutcome(outcome)}`)
}

function formatCheckOutcome({ findings, unanswered, waiting, isOptional, summary }: CheckOutcome): string {
  const { errors, warnings } = countFindings(findings)
  const optional = isOptional ? ', not required to merge' : ''
  if (errors > 0) return `${formatFindingCounts(errors, warnings)}${optional}`
  if (unanswered.length > 0)
    return isOptional
      ? 'inconclusive, not required to merge'
      : `waiting for ${unanswered.length} ${unanswered.length === 1 ? 'response' : 'responses'}`
  if (waiting.some(({ isAgreed }) => isAgreed !== true)) return 'waiting for approval'
  const passed = warnings > 0 ? `passed with ${formatFindingCounts(0, warnings)}` : 'passed'
  return summary === '' ? passed : `${passed} (${summary})`
}
