// Reports for pull requests that the bot no longer decides on: unserved branches, and merges by others.
import type { MergedVerdict } from '../gate/verdict.ts'
import { commentMarker } from './comment.ts'
import { code, plain } from './escape.ts'
import type { Report } from './report.ts'

/** `checks`: names of our existing check runs. They aren't neutral because GitHub counts neutral as success. */
export function unservedReport(branch: string, checks: readonly string[]): Report {
  const why = `catalog-bot does not serve the branch ${code(branch, 200)}, so nothing that it said here before still applies.`
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

export interface MergedElsewhere {
  readonly commit: string
  /** Absent: unknown. */
  readonly mergedBy?: string | undefined
  readonly autoMergeBy?: string | undefined
  readonly verdict: MergedVerdict
}

const judgments = {
  valid: '✅ catalog-bot judged the merged commit on its parent: every check passes.',
  invalid: '❌ catalog-bot would not have merged this commit:',
  unknown: '⚠️ catalog-bot cannot tell whether this commit is valid:',
} as const

export function mergedElsewhereComment({ commit, mergedBy, autoMergeBy, verdict }: MergedElsewhere): string {
  const merger = plain(mergedBy ?? 'a person')
  const who = autoMergeBy === undefined ? merger : `GitHub's auto-merge, which ${plain(autoMergeBy)} enabled,`
  const reasons = verdict.kind === 'valid' ? [] : verdict.reasons.slice(0, 5)
  return [
    commentMarker,
    `### Merged by ${autoMergeBy === undefined ? merger : "GitHub's auto-merge"}`,
    `${who} merged this pull request as ${code(commit.slice(0, 12))}, not catalog-bot.`,
    judgments[verdict.kind],
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${plain(reason, 300)}`).join('\n')] : []),
  ].join('\n\n')
}
