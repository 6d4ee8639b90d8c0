// Renders simulated installs as Markdown for the install check run. Escapes untrusted text.
import type { InstallStep, InstallVerdict, InstallStepOutcome } from '../checks/install/install-report.ts'
import type { InstallSummary } from '../checks/install/install-summary.ts'
import { remarkLabels } from './describe-install.ts'
import { toCodeSpan, toTableCodeSpan, escapeMarkdown } from './escape.ts'

const iconByStepOutcome: Readonly<Record<InstallStepOutcome, string>> = {
  passed: '✅',
  warning: '⚠️',
  failed: '❌',
  unknown: '❔',
  'left out': '➖',
}

const installLabels: Readonly<Record<InstallVerdict | 'other format', string>> = {
  yes: '✅ yes',
  no: '❌ no',
  unknown: '❔ inconclusive',
  'other format': '➖ does not install bundles of this format',
}

/** The number of packages whose steps are shown. The tables cover the rest. */
const maxDetailedInstalls = 10

/** Paragraphs of Markdown. */
export function* describeSimulatedInstalls(simulated: readonly InstallSummary[]): Generator<string> {
  yield '**Install results** (simulated without a cluster)'
  for (const one of simulated) yield [formatInstallTitle(one), '', ...renderAcceptanceTable(one)].join('\n')
  for (const one of simulated.slice(0, maxDetailedInstalls)) yield renderInstallSteps(one)
  if (simulated.length > maxDetailedInstalls)
    yield `The steps of ${simulated.length - maxDetailedInstalls} more installs are not shown. To see them, run ${toCodeSpan('catalog-bot install')}.`
  yield 'The simulation does not show whether the Operator runs after the installation.'
}

function formatInstallTitle({ package: its, channel, bundle, catalogs }: InstallSummary): string {
  const shown = catalogs.slice(0, 3).map((root) => toCodeSpan(root))
  const more = catalogs.length > 3 ? ` and ${catalogs.length - 3} more catalogs` : ''
  const resolvedBundle = bundle === undefined ? 'no bundle resolved' : toCodeSpan(bundle)
  return `Package ${toCodeSpan(its)}, channel ${toCodeSpan(channel)}: ${resolvedBundle}, in ${shown.join(', ')}${more}`
}

function renderAcceptanceTable({ acceptance }: InstallSummary): readonly string[] {
  const rows = acceptance.map(({ target, installs, because }) => {
    const why = because.map((reason) => toTableCodeSpan(reason, 300)).join('; ')
    return `| ${target} | ${installLabels[installs]} | ${why} |`
  })
  return ['| Target | Installs | Reason |', '|---|---|---|', ...rows]
}

function renderInstallSteps(one: InstallSummary): string {
  const lines = one.steps.flatMap((step) => renderInstallStep(step))
  const along = one.comesAlong.map((each) => `- Dependency: ${escapeMarkdown(each)}`)
  const title = '<details><summary>Steps</summary>'
  return [title, '', formatInstallTitle(one), '', ...along, ...lines, '', '</details>'].join('\n')
}

function renderInstallStep({ title, outcome, facts, remarks }: InstallStep): readonly string[] {
  return [
    `- ${iconByStepOutcome[outcome]} ${title}${outcome === 'left out' ? ' (skipped)' : ''}`,
    ...facts.map((fact) => `  - ${escapeMarkdown(fact)}`),
    ...remarks.map(
      ({ kind, says, targets }) => `  - ${remarkLabels[kind]} ${targets.join(', ')}: ${escapeMarkdown(says)}`,
    ),
  ]
}
