// Reports for pull requests that catalog-bot no longer evaluates: those for other branches, and those merged by others.
import type { MergedCommitVerdict } from '../policy/verdict.ts'
import { commentMarker } from './comment.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import type { PullReport } from './report.ts'

/** `checks`: names of existing check runs. They are not neutral, because GitHub counts neutral as success. */
export function renderUnservedBranchReport(branch: string, checks: readonly string[]): PullReport {
  const why = `catalog-bot does not handle the branch ${toCodeSpan(branch, 200)}, so its earlier results no longer apply.`
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
    commentIs: 'kept',
  }
}

export interface ExternalMergeView {
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

export function renderExternalMergeComment({
  commit,
  mergedBy,
  autoMergeBy,
  verdict,
}: ExternalMergeView): string {
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
