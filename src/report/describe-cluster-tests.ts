// Renders install tests on a cluster as plain text and makes every line printable.
import type { SkippedClusterTest } from '../checks/install/cluster-test/cluster-test-plan.ts'
import {
  failureClassByCode,
  type ClusterTestOutcome,
} from '../checks/install/cluster-test/cluster-test-outcome.ts'
import type { ClusterTestReport } from '../checks/install/cluster-test/cluster-test-report.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'

/** `0:42`. */
export function formatElapsedTime(from: number, to: number): string {
  const seconds = Math.max(0, Math.round((to - from) / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export function formatClusterTestTitle({
  package: its,
  channel,
  target,
  steps,
}: Pick<ClusterTestReport, 'package' | 'channel' | 'target' | 'steps'>): string {
  const [first = '', ...others] = steps
  const subject = others.length === 0 ? `install of ${first}` : `upgrade ${[first, ...others].join(' → ')}`
  return `${its}, channel ${channel}, ${target}: ${subject}`
}

const labelByTestFailureClass = {
  content: 'the bundles or their dependencies',
  catalog: 'the catalog image',
  environment: 'the cluster; unrelated to the change',
  infra: 'the network or a server; unrelated to the change',
} as const

function formatClusterTestOutcome(outcome: ClusterTestOutcome): string {
  if (!('code' in outcome)) return 'installs'
  const verdict = outcome.verdict === 'could not be found out' ? 'inconclusive' : outcome.verdict
  return `${verdict} (${outcome.code}; ${labelByTestFailureClass[failureClassByCode[outcome.code]]})`
}

export function describeClusterTests(
  reports: readonly ClusterTestReport[],
  notRun: readonly SkippedClusterTest[] = [],
): string {
  return [
    ...reports.flatMap((report) => [...describeClusterTest(report), '']),
    ...notRun.map(({ target, channel, why }) => `channel ${channel}, ${target}: not tested: ${why}`),
  ]
    .map(escapeNonPrintableCharacters)
    .join('\n')
}

function describeClusterTest(report: ClusterTestReport): readonly string[] {
  const { outcome, cluster, mode, namespace, events, evidence, leftovers, started, ended } = report
  return [
    `${formatClusterTestTitle(report)}: ${formatClusterTestOutcome(outcome)}`,
    ...('says' in outcome ? [`  ${outcome.says}`] : []),
    `  On ${cluster.length === 0 ? 'the cluster' : cluster.join(', ')}; mode ${mode}, namespace ${namespace}, ${formatElapsedTime(started, ended)}`,
    ...events.map(({ at, says }) => `  ${formatElapsedTime(started, at).padStart(6)}  ${says}`),
    ...evidence.flatMap(({ title, lines }) => [`  ${title}:`, ...lines.map((line) => `      ${line}`)]),
    ...(leftovers.length > 0
      ? ['  These objects remain on the cluster:', ...leftovers.map((one) => `      ${one}`)]
      : []),
  ]
}
