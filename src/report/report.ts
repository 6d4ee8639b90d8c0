// Renders a verdict as check runs, a comment, and suggestions from one value, so that they are consistent.
import { checkIds } from '@catalog-bot/findings/checks'
import type { PullVerdict, MergedCommitVerdict } from '../policy/verdict.ts'
import { renderCheckRun } from './check-runs.ts'
import { renderComment, commentMarker } from './comment.ts'
import { needsHumanAction } from './next-steps.ts'
import { type PullReportOptions, type ReportedCheck, toFindingIdentityKey } from './report-options.ts'
import { escapeMarkdown, renderFencedBlock, toCodeSpan } from './escape.ts'

interface ExternallyMergedCommit {
  readonly commit: string
  /** Absent if unknown. */
  readonly mergedBy?: string | undefined
  readonly autoMergeBy?: string | undefined
  readonly verdict: MergedCommitVerdict
}

const messageByMergedCommitVerdict = {
  valid: '✅ catalog-bot checked the merged commit against its parent, and all checks passed.',
  invalid: '❌ catalog-bot would not have merged this commit:',
  unknown: '⚠️ catalog-bot could not determine whether this commit is valid:',
} as const

export interface ReviewSuggestion {
  readonly path: string
  readonly first: number
  readonly last: number
  /** Starts with the marker. Equal suggestions have equal text. */
  readonly body: string
}

/** The hidden line that identifies suggestions among the comments of the same App (docs/dev/threats.md#t56). */
export const reviewSuggestionMarker = '<!-- catalog-bot:suggestion -->'

const maxReviewSuggestions = 10

export interface PullReport {
  readonly checks: readonly ReportedCheck[]
  readonly comment: string
  /** `update`: an existing comment is edited, but no comment is created. `none`: neither. */
  readonly commentAction: 'publish' | 'update' | 'none'
  /** Undefined if suggestions are disabled. Existing suggestions are not changed. */
  readonly suggestions?: readonly ReviewSuggestion[] | undefined
}

/** Escapes untrusted text. */
export function renderPullReport(verdict: PullVerdict, options: PullReportOptions): PullReport {
  return {
    checks: checkIds.map((id) => ({
      ...renderCheckRun(id, verdict, options),
      ...(options.statusPage !== undefined && { detailsUrl: options.statusPage }),
    })),
    comment: renderComment(verdict, options),
    commentAction: decideCommentAction(verdict, options),
    ...(options.suggestions === true && { suggestions: renderReviewSuggestions(verdict, options) }),
  }
}

function decideCommentAction(
  verdict: PullVerdict,
  { comment = 'always', mergeCommit, published, traceId }: PullReportOptions,
): PullReport['commentAction'] {
  if (comment === 'never') return 'none'
  if (comment === 'always' || traceId !== undefined) return 'publish'
  if (mergeCommit !== undefined) return published?.state === 'failed' ? 'publish' : 'update'
  return needsHumanAction(verdict) ? 'publish' : 'update'
}

/** Renders fixes as GitHub suggestions, which the author can commit with a click. */
function renderReviewSuggestions(
  verdict: PullVerdict,
  { fixes = [], rulesUrl, mergeCommit }: PullReportOptions,
) {
  if (mergeCommit !== undefined) return []
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

/** `checks`: names of existing check runs. They are not neutral, because GitHub counts neutral as success. */
export function renderUnmanagedBranchReport(branch: string, checks: readonly string[]): PullReport {
  const why = `catalog-bot does not handle the branch ${toCodeSpan(branch, 200)}, so earlier results no longer apply.`
  const fix =
    'Change the base branch of this pull request, or ask a maintainer to add the branch to `branches` in `.github/catalog-bot.yml` on the default branch.'
  return {
    checks: checks.map((name) => ({
      name,
      status: 'completed',
      conclusion: 'action_required',
      title: 'Not checked: catalog-bot does not handle the base branch',
      summary: `${why} ${fix}`,
      annotations: [],
    })),
    comment: [commentMarker, '### ⏸️ No longer checked', why, fix].join('\n\n'),
    commentAction: 'update',
  }
}

export function renderExternalMergeComment({
  commit,
  mergedBy,
  autoMergeBy,
  verdict,
}: ExternallyMergedCommit) {
  const merger = escapeMarkdown(mergedBy ?? 'a person')
  const actor =
    autoMergeBy === undefined ? merger : `GitHub's auto-merge, which ${escapeMarkdown(autoMergeBy)} enabled,`
  const reasons = verdict.kind === 'valid' ? [] : verdict.reasons.slice(0, 5)
  return [
    commentMarker,
    `### Merged by ${autoMergeBy === undefined ? merger : "GitHub's auto-merge"}`,
    `${actor} merged this pull request as ${toCodeSpan(commit.slice(0, 12))} without catalog-bot.`,
    messageByMergedCommitVerdict[verdict.kind],
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${escapeMarkdown(reason, 300)}`).join('\n')] : []),
  ].join('\n\n')
}
