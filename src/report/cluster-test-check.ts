// The check run for install tests on a cluster. It passes only if everything installs, and fails only if the change is
// at fault. After a cluster or network failure, the check run neither passes nor fails. Escapes untrusted text.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import {
  clusterTestFailureClassByCode,
  type ClusterTestOutcome,
} from '../checks/install/cluster-test/cluster-test-state.ts'
import type {
  PlannedClusterTest,
  SkippedClusterTest,
} from '../checks/install/cluster-test/cluster-test-plan.ts'
import type { ClusterTestReport } from '../checks/install/cluster-test/cluster-test-report.ts'
import {
  toCodeSpan,
  escapeMarkdown,
  renderFencedBlock,
  countUtf8Bytes,
  maxGitHubTextBytes,
} from './escape.ts'
import { checkNamePrefix, createReportedCheck, type ReportedCheck } from './report-options.ts'

const labelByTestFailureClass = {
  content: 'caused by the bundles or their dependencies',
  catalog: 'caused by the catalog image',
  environment: 'caused by the cluster, not by the change',
  infra: 'caused by the network or a server, not by the change',
} as const

export type ClusterTestView =
  /** Waits for the cluster or the catalog image. */
  | { readonly kind: 'waiting'; readonly isForImage?: true }
  | { readonly kind: 'planned'; readonly trial: PlannedClusterTest }
  | { readonly kind: 'running'; readonly trial: PlannedClusterTest; readonly says: string }
  | { readonly kind: 'tried'; readonly report: ClusterTestReport }
  | { readonly kind: 'not-tried'; readonly what: string; readonly why: string }

/** GitHub accepts 65,535 characters. */
const maxDisplayedClusterTestEvents = 30

const clusterTestCheckId = 'cluster'
export const clusterTestCheckName = `${checkNamePrefix}${clusterTestCheckId}`

/** `isRequired`: GitHub counts a neutral required check as success, so an inconclusive one needs another conclusion. */
export function renderClusterTestCheck(views: readonly ClusterTestView[], isRequired = false): ReportedCheck {
  const summary = renderClusterTestSummary(views)
  if (views.some(({ kind }) => kind === 'running'))
    return createReportedCheck(clusterTestCheckId, 'in_progress', 'Installing on the test cluster', summary)
  if (views.some(({ kind }) => kind === 'waiting' || kind === 'planned'))
    return createReportedCheck(clusterTestCheckId, 'queued', 'Waiting for the test cluster', summary)
  const reports = views.flatMap((one) => (one.kind === 'tried' ? [one.report] : []))
  const bad = reports.filter(({ outcome }) => outcome.verdict === 'does not install')
  const open =
    views.length - reports.filter(({ outcome }) => outcome.verdict === 'installs').length - bad.length
  const unclear = isRequired ? 'action_required' : 'neutral'
  const conclusion = bad.length > 0 ? 'failure' : open > 0 || reports.length === 0 ? unclear : 'success'
  const title =
    conclusion === 'failure'
      ? `${bad.length} of ${views.length} install tests failed`
      : conclusion === 'success'
        ? `${reports.length} of ${views.length} install tests passed`
        : 'Inconclusive: the test cluster had a problem'
  return createReportedCheck(clusterTestCheckId, conclusion, title, summary)
}

/** Starts with the most important parts. Omits whole parts that do not fit. */
function renderClusterTestSummary(views: readonly ClusterTestView[]): string {
  let left = maxGitHubTextBytes
  const parts: string[] = []
  for (const part of views.flatMap((one) => [...describeClusterTest(one)])) {
    left -= countUtf8Bytes(part) + 2
    if (left < 0) {
      parts.push('The remaining output is omitted because it is too long.')
      break
    }
    parts.push(part)
  }
  return parts.join('\n\n')
}

function* describeClusterTest(view: ClusterTestView): Generator<string> {
  switch (view.kind) {
    case 'waiting':
      yield view.isForImage
        ? 'The preview image of this commit is being built. The install test starts when the image is available.'
        : 'Another install test is running on the cluster. This test starts when that test ends.'
      return
    case 'planned':
      yield `⏳ ${formatPlannedTestHeading(view.trial)}`
      return
    case 'running':
      yield `🔄 ${formatPlannedTestHeading(view.trial)}\n\nStatus: ${escapeMarkdown(view.says)}`
      return
    case 'not-tried':
      yield `➖ ${escapeMarkdown(view.what)} was not tested: ${escapeMarkdown(view.why)}`
      return
    case 'tried':
      yield* describeClusterTestReport(view.report)
  }
}

const labelByClusterTestVerdict: Readonly<Record<ClusterTestReport['outcome']['verdict'], string>> = {
  installs: 'installs',
  'does not install': 'does not install',
  'could not be found out': 'inconclusive',
}

const networkPolicyNote =
  'Network access was limited to the Kubernetes API, cluster DNS, other pods in the test, and allowlisted destinations.'

function* describeClusterTestReport(report: ClusterTestReport): Generator<string> {
  const { outcome, cluster, mode, namespace, started, ended } = report
  const mark = { installs: '✅', 'does not install': '❌', 'could not be found out': '❔' }[outcome.verdict]
  yield `${mark} ${formatClusterTestHeading(report)}: **${labelByClusterTestVerdict[outcome.verdict]}**`
  if ('code' in outcome) {
    const isOurs = ['environment', 'infra'].includes(clusterTestFailureClassByCode[outcome.code])
    yield `${toCodeSpan(outcome.code)}: ${escapeMarkdown(outcome.says, 1500)}${isOurs ? '\n\nThis failure is unrelated to the change. To retry, a maintainer can comment `/test-install`.' : ''}`
  }
  yield `On ${cluster.map((one) => toCodeSpan(one)).join(', ') || 'the cluster'}, mode ${mode}, namespace ${toCodeSpan(namespace)}, ${formatElapsedTime(started, ended)} minutes.${report.isNetworkClosed ? ` ${networkPolicyNote}` : ''}`
  const events = report.events
    .slice(-maxDisplayedClusterTestEvents)
    .map(({ at, says }) => `- ${formatElapsedTime(started, at)} ${escapeMarkdown(says)}`)
  yield ['<details><summary>Events</summary>', '', ...events, '', '</details>'].join('\n')
  for (const { title, lines } of report.evidence)
    yield [
      `<details><summary>${escapeMarkdown(title)}</summary>`,
      '',
      renderFencedBlock('', lines.map(escapeNonPrintableCharacters).join('\n')),
      '',
      '</details>',
    ].join('\n')
  if (report.leftovers.length > 0)
    yield [
      '⚠️ These objects remain on the cluster:',
      '',
      ...report.leftovers.map((one) => `- ${escapeMarkdown(one)}`),
    ].join('\n')
}

const formatClusterTestHeading = (test: ClusterTestSubject): string =>
  `Package ${formatClusterTestTitle(test, toCodeSpan)}`

const formatPlannedTestHeading = ({ steps, ...test }: PlannedClusterTest): string =>
  formatClusterTestHeading({ ...test, steps: steps.map(({ root }) => root) })

/** `0:42`. */
export function formatElapsedTime(from: number, to: number): string {
  const seconds = Math.max(0, Math.round((to - from) / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

type ClusterTestSubject = Pick<ClusterTestReport, 'package' | 'channel' | 'target' | 'steps'>

/** Plain text, unless `format` converts the untrusted names. */
export function formatClusterTestTitle(
  { package: its, channel, target, steps }: ClusterTestSubject,
  format = (name: string): string => name,
): string {
  const shown = steps.map((root) => format(root))
  const subject = shown.length > 1 ? `upgrade ${shown.join(' → ')}` : `install of ${shown.join('')}`
  return `${format(its)}, channel ${format(channel)}, ${target}: ${subject}`
}

function formatClusterTestOutcome(outcome: ClusterTestOutcome): string {
  if (!('code' in outcome)) return 'installs'
  const verdict = outcome.verdict === 'could not be found out' ? 'inconclusive' : outcome.verdict
  return `${verdict} (${outcome.code}; ${labelByTestFailureClass[clusterTestFailureClassByCode[outcome.code]]})`
}

export function describeClusterTests(
  reports: readonly ClusterTestReport[],
  notRun: readonly SkippedClusterTest[] = [],
): string {
  return [
    ...reports.flatMap((report) => [...formatClusterTestLines(report), '']),
    ...notRun.map(({ target, channel, why }) => `channel ${channel}, ${target}: not tested: ${why}`),
  ]
    .map(escapeNonPrintableCharacters)
    .join('\n')
}

function formatClusterTestLines(report: ClusterTestReport): readonly string[] {
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
