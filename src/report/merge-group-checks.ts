// Check runs for a merge queue group. All have the same result, because the queue merges the whole group or nothing.
import { checkIds } from '@catalog-bot/findings/checks'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export type MergeGroupVerdict =
  | { readonly kind: 'good'; readonly pulls: readonly number[] }
  /** `reasons`: sentences that contain untrusted text. */
  | { readonly kind: 'bad'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }
  | { readonly kind: 'waiting'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }

const maxDisplayedGroupReasons = 20

export function renderMergeGroupChecks(verdict: MergeGroupVerdict): readonly ReportedCheck[] {
  const pulls = verdict.pulls.map((pull) => toCodeSpan(`#${pull}`)).join(', ')
  const reasons =
    'reasons' in verdict
      ? verdict.reasons.slice(0, maxDisplayedGroupReasons).map((each) => `- ${escapeMarkdown(each)}`)
      : []
  const summary = [`Merged together: ${pulls}.`, ...reasons].join('\n')
  return checkIds.map((id): ReportedCheck => {
    const run = { name: `${checkNamePrefix}${id}`, summary, annotations: [] }
    switch (verdict.kind) {
      case 'good':
        // The install check runs only on pull requests.
        if (id === 'install')
          return { ...run, status: 'completed', conclusion: 'neutral', title: 'Checked on each pull request' }
        return { ...run, status: 'completed', conclusion: 'success', title: 'Passed together' }
      case 'bad':
        return { ...run, status: 'completed', conclusion: 'failure', title: 'This group cannot be merged' }
      case 'waiting':
        return {
          ...run,
          status: 'in_progress',
          title: 'Waiting for a registry or GitHub; catalog-bot retries automatically',
        }
    }
  })
}
