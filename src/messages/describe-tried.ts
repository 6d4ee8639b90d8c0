// Renders the simulated installs as Markdown for the install check run. Escapes untrusted text.
import type { InstallStep, Installs, StepOutcome } from '../checks/install/install-report.ts'
import type { TriedInstall } from '../checks/install/tried-install.ts'
import { code, codeInCell, plain } from './escape.ts'

const marks: Readonly<Record<StepOutcome, string>> = {
  passed: '✅',
  warning: '⚠️',
  failed: '❌',
  unknown: '❔',
  'left out': '➖',
}

const words: Readonly<Record<Installs | 'other format', string>> = {
  yes: '✅ yes',
  no: '❌ no',
  unknown: '❔ could not be found out',
  'other format': '➖ takes bundles of another format',
}

/** Shows the steps of this many packages; the tables cover the rest. */
const mostTold = 10

/** Paragraphs of Markdown. */
export function* describeTried(tried: readonly TriedInstall[]): Generator<string> {
  yield '**Installs with** (simulated, without a cluster)'
  for (const one of tried) yield [whatOf(one), '', ...acceptanceTable(one)].join('\n')
  for (const one of tried.slice(0, mostTold)) yield stepsOf(one)
  if (tried.length > mostTold)
    yield `The steps of ${tried.length - mostTold} more are not shown: run ${code('catalog-bot install')}.`
  yield 'Left for a cluster: whether the Operator then runs.'
}

function whatOf({ package: its, channel, bundle, catalogs }: TriedInstall): string {
  const shown = catalogs.slice(0, 3).map((root) => code(root))
  const more = catalogs.length > 3 ? ` and ${catalogs.length - 3} more catalogs` : ''
  const what = bundle === undefined ? 'nothing is resolved' : code(bundle)
  return `Package ${code(its)}, channel ${code(channel)}: ${what}, in ${shown.join(', ')}${more}`
}

function acceptanceTable({ acceptance }: TriedInstall): readonly string[] {
  const rows = acceptance.map(({ target, installs, because }) => {
    const why = because.map((reason) => codeInCell(reason, 300)).join('; ')
    return `| ${target} | ${words[installs]} | ${why} |`
  })
  return ['| | installs | because |', '|---|---|---|', ...rows]
}

function stepsOf(one: TriedInstall): string {
  const lines = one.steps.flatMap((step) => linesOf(step))
  const along = one.comesAlong.map((each) => `- Comes along: ${plain(each)}`)
  const title = '<details><summary>What was tried</summary>'
  return [title, '', whatOf(one), '', ...along, ...lines, '', '</details>'].join('\n')
}

function linesOf({ title, outcome, facts, remarks }: InstallStep): readonly string[] {
  return [
    `- ${marks[outcome]} ${title}${outcome === 'left out' ? ' (left out)' : ''}`,
    ...facts.map((fact) => `  - ${plain(fact)}`),
    ...remarks.map(({ kind, says, targets }) => `  - ${kind} (${targets.join(', ')}): ${plain(says)}`),
  ]
}
