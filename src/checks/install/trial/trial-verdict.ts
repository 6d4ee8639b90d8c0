// What several trials of one package come to: the worst of them, and what could not be found out is worse than a yes alone.
import type { Installs } from '../install-report.ts'
import type { TrialReport } from './trial-report.ts'

export function verdictOfTrials(reports: readonly Pick<TrialReport, 'outcome'>[]): Installs {
  if (reports.some(({ outcome }) => outcome.verdict === 'does not install')) return 'no'
  return reports.length > 0 && reports.every(({ outcome }) => outcome.verdict === 'installs')
    ? 'yes'
    : 'unknown'
}
