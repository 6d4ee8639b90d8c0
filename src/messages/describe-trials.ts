// Renders trials on a cluster as plain text, and makes every line printable.
import type { NotTried } from '../checks/install/trial/plan-trials.ts'
import { failureClasses, type TrialOutcome } from '../checks/install/trial/trial-outcome.ts'
import type { TrialReport } from '../checks/install/trial/trial-report.ts'
import { printable } from '../findings/printable.ts'

/** `0:42`. */
export function elapsed(from: number, to: number): string {
  const seconds = Math.max(0, Math.round((to - from) / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export function whatWasTried({
  package: its,
  channel,
  target,
  steps,
}: Pick<TrialReport, 'package' | 'channel' | 'target' | 'steps'>): string {
  const [first = '', ...others] = steps
  const what = others.length === 0 ? `install of ${first}` : `upgrade ${[first, ...others].join(' → ')}`
  return `${its}, channel ${channel}, ${target}: ${what}`
}

const whose = {
  content: 'the bundles or what they ask for',
  catalog: "the catalog's image",
  environment: 'the cluster: this says nothing about the change',
  infra: 'the network or a server: this says nothing about the change',
} as const

function howItEnded(outcome: TrialOutcome): string {
  if (!('code' in outcome)) return 'installs'
  return `${outcome.verdict} (${outcome.code}; ${whose[failureClasses[outcome.code]]})`
}

export function describeTrials(reports: readonly TrialReport[], notTried: readonly NotTried[] = []): string {
  return [
    ...reports.flatMap((report) => [...describeOne(report), '']),
    ...notTried.map(({ target, channel, why }) => `channel ${channel}, ${target}: not tried: ${why}`),
  ]
    .map(printable)
    .join('\n')
}

function describeOne(report: TrialReport): readonly string[] {
  const { outcome, cluster, mode, namespace, events, evidence, leftovers, started, ended } = report
  return [
    `${whatWasTried(report)}: ${howItEnded(outcome)}`,
    ...('says' in outcome ? [`  ${outcome.says}`] : []),
    `  On ${cluster.length === 0 ? 'the cluster' : cluster.join(', ')}; mode ${mode}, namespace ${namespace}, ${elapsed(started, ended)}`,
    ...events.map(({ at, says }) => `  ${elapsed(started, at).padStart(6)}  ${says}`),
    ...evidence.flatMap(({ title, lines }) => [`  ${title}:`, ...lines.map((line) => `      ${line}`)]),
    ...(leftovers.length > 0 ? ['  Left on the cluster:', ...leftovers.map((one) => `      ${one}`)] : []),
  ]
}
