// Combines the trials of a package: the worst counts, and unknown is worse than yes.
import type { Installs } from '../install-report.ts'
import type { TrialReport } from './trial-report.ts'

export function verdictOfTrials(reports: readonly Pick<TrialReport, 'outcome'>[]): Installs {
  if (reports.some(({ outcome }) => outcome.verdict === 'does not install')) return 'no'
  return reports.length > 0 && reports.every(({ outcome }) => outcome.verdict === 'installs')
    ? 'yes'
    : 'unknown'
}
