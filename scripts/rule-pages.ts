// Updates the pages of rules: the box (check, severity, since, network), the examples with the messages of their
// findings, and the index. The rest of each page is written manually and not modified. See rules.ts.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../src/checks/all-rules.ts'
import { checkDefinitions } from '../packages/findings/src/checks.ts'
import type { CheckId } from '../packages/findings/src/checks.ts'
import type { FindingRuleWithoutFormatter } from '../packages/findings/src/rule.ts'
import { renderExample } from './rule-examples/render-example.ts'
import { harmByRuleId } from './rule-harm.ts'

/** Every rule, sorted by id: each has a page. */
export const rulesWithPages: readonly FindingRuleWithoutFormatter[] = allRules.toSorted((a, b) =>
  a.id < b.id ? -1 : 1,
)

const exampleBlockPattern = /<!-- example (?<path>\S+) -->[\s\S]*?<!-- \/example -->/g

/** A page with its box and examples updated. Throws an Error that names the missing part if that is impossible. */
export async function updateRulePage(
  text: string,
  rule: FindingRuleWithoutFormatter,
  fixtures: string,
): Promise<string> {
  if (!text.startsWith(`# ${rule.id}\n`))
    throw new Error(`docs/rules/${rule.id}.md does not start with "# ${rule.id}"`)
  const body = text.indexOf('\n## ')
  if (body < 0) throw new Error(`docs/rules/${rule.id}.md has no "## What"`)
  const network = rule.network === true ? 'yes' : 'no'
  const written = text.slice(body)
  const examples = new Map<string, string>()
  for (const [, path = ''] of written.matchAll(exampleBlockPattern))
    examples.set(path, await renderExample(rule, path, fixtures))
  return [
    `# ${rule.id}\n\n${rule.title}.\n\n`,
    renderMarkdownTable(
      ['check', 'severity', 'since', 'network'],
      [[rule.check, rule.severity, rule.since, network]],
    ),
    written.replace(exampleBlockPattern, (_match, path: string) => examples.get(path) ?? ''),
  ].join('')
}

/** A Markdown table with padded columns, formatted like prettier. Ends in a line break. */
function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('')
}

/** The index of all pages: the rules of each check, with those that opm itself enforces in a separate table. */
export function renderRuleIndex(all: readonly FindingRuleWithoutFormatter[]): string {
  const list = (check: CheckId, isFixed: boolean) =>
    renderMarkdownTable(
      ['rule', 'severity', 'what it requires'],
      all
        .filter((rule) => rule.check === check && (rule.fixed ?? false) === isFixed)
        .map((rule) => [`[${rule.id}](${rule.id}.md)`, rule.severity, rule.title]),
    )
  return [
    '# Rules',
    '',
    "Every finding names its rule. The rule's page explains what the rule finds, why it matters, and how to fix it.",
    '`npm run rule-pages` generates this list.',
    '',
    'Set severities and exceptions under `rules` in `.github/catalog-bot.yml`:',
    '',
    '```yaml',
    'rules:',
    '  edge-to-nowhere: off',
    '  downgrade-edge: error',
    '  icon-mismatch:',
    '    ignore: [some-package, "catalogs/v4.16/**"]',
    '```',
    '',
    ...checkDefinitions.flatMap(({ id }) => {
      const heading = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
      const ofOpm = all.some((rule) => rule.check === id && rule.fixed)
        ? [
            `## ${heading}: rejected by opm itself`,
            '',
            'These rules cannot be disabled, because opm cannot serve a catalog that breaks one of them.',
            '',
            list(id, true),
          ]
        : []
      return [`## ${heading}`, '', list(id, false), ...ofOpm]
    }),
  ].join('\n')
}

/**
 * A table of the reasons why errors block. Throws an Error for an error without a reason, and for a reason whose
 * rule no longer blocks.
 */
export function renderHarmTable(
  all: readonly FindingRuleWithoutFormatter[],
  harm: Readonly<Record<string, string>> = harmByRuleId,
): string {
  const errors = all.filter(({ severity, fixed }) => severity === 'error' && fixed !== true)
  const ids = new Set(errors.map(({ id }) => id))
  for (const id of Object.keys(harm))
    if (!ids.has(id)) throw new Error(`scripts/rule-harm.ts contains ${id}, which is not an error`)
  const rows = errors.map(({ id, severity }) => {
    const reason = harm[id]
    if (reason === undefined) throw new Error(`scripts/rule-harm.ts does not contain ${id}`)
    return [`[${id}](${id}.md)`, severity, reason]
  })
  return [
    '## Why errors block',
    '',
    'A rule is an error if a violation harms users or the catalog. All other rules are warnings, unless the configuration',
    'makes them errors. The rules that opm itself enforces are listed above; opm rejects a catalog that breaks them.',
    '',
    renderMarkdownTable(['rule', 'severity', 'who is affected'], rows),
  ].join('\n')
}

/** The expected pages below `root`, by path from the root. */
export async function renderRulePages(root: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const rule of rulesWithPages) {
    const path = `docs/rules/${rule.id}.md`
    const file = join(root, path)
    if (!existsSync(file)) throw new Error(`${path} is missing`)
    pages.set(path, await updateRulePage(readFileSync(file, 'utf8'), rule, join(root, 'fixtures/rules')))
  }
  pages.set('docs/rules/README.md', `${renderRuleIndex(rulesWithPages)}\n${renderHarmTable(rulesWithPages)}`)
  return pages
}

/** Pages that do not belong to a rule. */
export function findOrphanedRulePages(root: string): string[] {
  const known = new Set(['README.md', ...rulesWithPages.map(({ id }) => `${id}.md`)])
  const directory = join(root, 'docs/rules')
  return existsSync(directory) ? readdirSync(directory).filter((name) => !known.has(name)) : []
}
