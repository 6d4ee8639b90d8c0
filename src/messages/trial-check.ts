// The check run about trials on a cluster. It is green only where everything installs and red only where the change is
// at fault; cluster and network failures are neither. Escapes untrusted text.
import { failureClasses } from '../checks/install/trial/trial-outcome.ts'
import type { PlannedTrial } from '../checks/install/trial/plan-trials.ts'
import type { TrialReport } from '../checks/install/trial/trial-report.ts'
import { elapsed } from './describe-trials.ts'
import { code, plain } from './escape.ts'
import { fencedBlock } from './fenced-block.ts'
import { printable } from '../findings/printable.ts'
import { checkPrefix, type ReportedCheck } from './reported-check.ts'

export type ToldTrial =
  /** Waits for the cluster, or for the catalog's image. */
  | { readonly kind: 'waiting'; readonly isForImage?: true }
  | { readonly kind: 'planned'; readonly trial: PlannedTrial }
  | { readonly kind: 'running'; readonly trial: PlannedTrial; readonly says: string }
  | { readonly kind: 'tried'; readonly report: TrialReport }
  | { readonly kind: 'not-tried'; readonly what: string; readonly why: string }

/** GitHub takes 65,535 characters. */
const longest = 60_000
const mostEvents = 30

export const trialCheckName = `${checkPrefix}cluster`

/** `isRequired`: GitHub would count neutral as success for a required check. */
export function trialCheck(told: readonly ToldTrial[], isRequired = false): ReportedCheck {
  const name = trialCheckName
  const summary = summaryOf(told)
  if (told.some(({ kind }) => kind === 'running'))
    return { name, status: 'in_progress', title: 'Installing on the cluster', summary, annotations: [] }
  if (told.some(({ kind }) => kind === 'waiting' || kind === 'planned'))
    return { name, status: 'queued', title: 'Waiting for the cluster', summary, annotations: [] }
  const reports = told.flatMap((one) => (one.kind === 'tried' ? [one.report] : []))
  const bad = reports.filter(({ outcome }) => outcome.verdict === 'does not install')
  const open =
    told.length - reports.filter(({ outcome }) => outcome.verdict === 'installs').length - bad.length
  const unclear = isRequired ? 'action_required' : 'neutral'
  const conclusion = bad.length > 0 ? 'failure' : open > 0 || reports.length === 0 ? unclear : 'success'
  const title =
    conclusion === 'failure'
      ? `${bad.length} of ${told.length} do not install on the cluster`
      : conclusion === 'success'
        ? `Installed on the cluster: ${reports.length} of ${told.length}`
        : 'It could not be found out on the cluster'
  return { name, status: 'completed', conclusion, title, summary, annotations: [] }
}

/** Most important first; leaves out whole parts that don't fit. */
function summaryOf(told: readonly ToldTrial[]): string {
  let left = longest
  const parts: string[] = []
  for (const part of told.flatMap((one) => [...describe(one)])) {
    left -= part.length + 2
    if (left < 0) {
      parts.push('The rest does not fit here.')
      break
    }
    parts.push(part)
  }
  return parts.join('\n\n')
}

function* describe(told: ToldTrial): Generator<string> {
  switch (told.kind) {
    case 'waiting':
      yield told.isForImage
        ? 'The preview image of this commit is being made. The trial begins when it is there.'
        : 'Another trial is on the cluster. This one begins when that is over.'
      return
    case 'planned':
      yield `⏳ ${whatOf(told.trial)}`
      return
    case 'running':
      yield `🔄 ${whatOf(told.trial)}\n\nWaiting for ${plain(told.says)}`
      return
    case 'not-tried':
      yield `➖ ${plain(told.what)}: not tried: ${plain(told.why)}`
      return
    case 'tried':
      yield* describeReport(told.report)
  }
}

const closed =
  'Its pods reached the API of the cluster, its name service, one another, and what the operator of the App allows.'

function* describeReport(report: TrialReport): Generator<string> {
  const { outcome, target, package: its, channel, steps, cluster, mode, namespace, started, ended } = report
  const mark = { installs: '✅', 'does not install': '❌', 'could not be found out': '❔' }[outcome.verdict]
  const what = whatOf({ target, package: its, channel, steps: steps.map((root) => ({ root })) })
  yield `${mark} ${what}: **${outcome.verdict}**`
  if ('code' in outcome) {
    const isOurs = ['environment', 'infra'].includes(failureClasses[outcome.code])
    yield `${code(outcome.code)}: ${plain(outcome.says, 1500)}${isOurs ? '\n\nThis says nothing about the change. A maintainer can try again with `/test-install`.' : ''}`
  }
  yield `On ${cluster.map((one) => code(one)).join(', ') || 'the cluster'}, mode ${mode}, namespace ${code(namespace)}, ${elapsed(started, ended)} minutes.${report.isNetworkClosed ? ` ${closed}` : ''}`
  const events = report.events
    .slice(-mostEvents)
    .map(({ at, says }) => `- ${elapsed(started, at)} ${plain(says)}`)
  yield ['<details><summary>What happened</summary>', '', ...events, '', '</details>'].join('\n')
  for (const { title, lines } of report.evidence)
    yield [
      `<details><summary>${plain(title)}</summary>`,
      '',
      fencedBlock('', lines.map(printable).join('\n')),
      '',
      '</details>',
    ].join('\n')
  if (report.leftovers.length > 0)
    yield ['⚠️ Left on the cluster:', '', ...report.leftovers.map((one) => `- ${plain(one)}`)].join('\n')
}

function whatOf({
  package: its,
  channel,
  target,
  steps,
}: Pick<PlannedTrial, 'package' | 'channel' | 'target'> & {
  readonly steps: readonly { readonly root: string }[]
}): string {
  const [first, ...others] = steps.map(({ root }) => code(root))
  const what = others.length === 0 ? `install of ${first ?? ''}` : `upgrade ${[first, ...others].join(' → ')}`
  return `Package ${code(its)}, channel ${code(channel)}, ${target}: ${what}`
}
