// Reports for pull requests that the bot no longer decides on: unserved branches, and merges by others.
import type { MergedCommitVerdict } from '../gate/verdict.ts'
import { commentMarker } from './comment.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import type { PullReport } from './report.ts'

/** `checks`: names of our existing check runs. They aren't neutral because GitHub counts neutral as success. */
export function renderUnservedReport(branch: string, checks: readonly string[]): PullReport {
  const why = `catalog-bot does not serve the branch ${toCodeSpan(branch, 200)}, so nothing that it said here before still applies.`
  const fix =
    'Change the base branch of this pull request, or ask a maintainer to add the branch to `branches` in `.github/catalog-bot.yml` on the default branch.'
  return {
    checks: checks.map((name) => ({
      name,
      status: 'completed',
      conclusion: 'action_required',
      title: 'Not checked: the base branch is not served',
      summary: `${why} ${fix}`,
      annotations: [],
    })),
    comment: [commentMarker, '### ⏸️ Not checked any more', why, fix].join('\n\n'),
    commentIs: 'kept',
  }
}

export interface ExternalMergeView {
  readonly commit: string
  /** Absent: unknown. */
  readonly mergedBy?: string | undefined
  readonly autoMergeBy?: string | undefined
  readonly verdict: MergedCommitVerdict
}

const verdictMessages = {
  valid: '✅ catalog-bot judged the merged commit on its parent: every check passes.',
  invalid: '❌ catalog-bot would not have merged this commit:',
  unknown: '⚠️ catalog-bot cannot tell whether this commit is valid:',
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
    `${actor} merged this pull request as ${toCodeSpan(commit.slice(0, 12))}, not catalog-bot.`,
    verdictMessages[verdict.kind],
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${escapeMarkdown(reason, 300)}`).join('\n')] : []),
  ].join('\n\n')
}
