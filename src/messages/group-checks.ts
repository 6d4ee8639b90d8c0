// Check runs on a merge queue group. All have the same result because the queue merges the whole group or none of it.
import { checkIds } from '../findings/checks.ts'
import { code, plain } from './escape.ts'
import { checkPrefix, type ReportedCheck } from './report.ts'

export type GroupVerdict =
  | { readonly kind: 'good'; readonly pulls: readonly number[] }
  /** `reasons`: a sentence each, with untrusted text. */
  | { readonly kind: 'bad'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }
  | { readonly kind: 'waiting'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }

const mostReasons = 20

export function groupChecks(verdict: GroupVerdict): readonly ReportedCheck[] {
  const pulls = verdict.pulls.map((pull) => code(`#${pull}`)).join(', ')
  const reasons =
    'reasons' in verdict ? verdict.reasons.slice(0, mostReasons).map((each) => `- ${plain(each)}`) : []
  const summary = [`Merged together: ${pulls}.`, ...reasons].join('\n')
  return checkIds.map((id): ReportedCheck => {
    const run = { name: `${checkPrefix}${id}`, summary, annotations: [] }
    switch (verdict.kind) {
      case 'good':
        // Installs are only tried per pull request.
        if (id === 'install')
          return { ...run, status: 'completed', conclusion: 'neutral', title: 'Tried on each pull request' }
        return { ...run, status: 'completed', conclusion: 'success', title: 'Passed together' }
      case 'bad':
        return { ...run, status: 'completed', conclusion: 'failure', title: 'This group cannot be merged' }
      case 'waiting':
        return { ...run, status: 'in_progress', title: 'Waiting for answers; asked again automatically' }
    }
  })
}
