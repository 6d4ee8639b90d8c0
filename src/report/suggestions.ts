// Renders fixes as GitHub suggestions, which the author can commit with a click.
import type { PullVerdict } from '../policy/verdict.ts'
import { escapeMarkdown } from './escape.ts'
import { renderFencedBlock } from './fenced-block.ts'
import type { ReportOptions } from './report-options.ts'
import { toFindingIdentityKey } from './traced-line.ts'

export interface ReviewSuggestion {
  readonly path: string
  readonly first: number
  readonly last: number
  /** Starts with the marker. Equal suggestions have equal text. */
  readonly body: string
}

/** The hidden line that identifies suggestions among the comments of the same App (docs/threats.md#t56). */
export const reviewSuggestionMarker = '<!-- catalog-bot:suggestion -->'

const maxReviewSuggestions = 10

export function renderReviewSuggestions(
  verdict: PullVerdict,
  { fixes = [], rulesUrl, landed }: ReportOptions,
): readonly ReviewSuggestion[] {
  if (landed !== undefined) return []
  const findings = new Map(
    verdict.outcomes.flatMap((outcome) => outcome.findings).map((one) => [toFindingIdentityKey(one), one]),
  )
  const taken: ReviewSuggestion[] = []
  for (const { finding: key, fix, suggestion } of fixes) {
    const finding = findings.get(key)
    if (finding === undefined || suggestion === undefined || taken.length === maxReviewSuggestions) continue
    // Authors must not commit invisible characters with a click.
    if (fix.after.some((line) => /[^\P{C}\t]|\p{Default_Ignorable_Code_Point}/u.test(line))) continue
    const { first, last } = suggestion
    // GitHub cannot apply overlapping suggestions.
    if (taken.some((other) => other.path === fix.file && first <= other.last && last >= other.first)) continue
    const rule = rulesUrl === undefined ? finding.rule : `[${finding.rule}](${rulesUrl}/${finding.rule}.md)`
    const body = [
      reviewSuggestionMarker,
      `${escapeMarkdown(finding.what, 500)} (${rule})`,
      renderFencedBlock('suggestion', fix.after.join('\n')),
    ].join('\n\n')
    taken.push({ path: fix.file, first, last, body })
  }
  return taken
}
