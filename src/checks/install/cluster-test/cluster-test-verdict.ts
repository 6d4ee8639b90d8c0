// Combines the install tests of a package. The worst verdict wins, and unknown is worse than yes.
import type { InstallVerdict } from '../install-report.ts'
import type { ClusterTestReport } from './cluster-test-report.ts'

export function combineClusterTestVerdicts(
  reports: readonly Pick<ClusterTestReport, 'outcome'>[],
): InstallVerdict {
  if (reports.some(({ outcome }) => outcome.verdict === 'does not install')) return 'no'
  return reports.length > 0 && reports.every(({ outcome }) => outcome.verdict === 'installs')
    ? 'yes'
    : 'unknown'
}
