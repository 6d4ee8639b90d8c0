// Keeps the pages of rules true: the box (check, severity, since, network), the example, and the index.
// Everything else on a page is written by people and left alone. `node scripts/rule-pages.ts [--check] [ROOT]`;
// --check writes nothing and exits 1 when a page would change. CI runs it and wants an empty `git diff`.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { allRules } from '../src/checks/all-rules.ts'
import { checks } from '../src/findings/checks.ts'
import type { CheckId } from '../src/findings/checks.ts'
import type { AnyRule } from '../src/findings/rule.ts'

/** Every rule, sorted by id: each has a page. */
export const pageRules: readonly AnyRule[] = allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1))

const exampleMark = /<!-- example (?<path>\S+) -->[\s\S]*?<!-- \/example -->/g

/** A page with its box and examples renewed. Throws an Error that says what is missing, when one cannot be. */
export function renewPage(text: string, rule: AnyRule, fixtures: string): string {
  if (!text.startsWith(`# ${rule.id}\n`))
    throw new Error(`docs/rules/${rule.id}.md does not begin with "# ${rule.id}"`)
  const body = text.indexOf('\n## ')
  if (body < 0) throw new Error(`docs/rules/${rule.id}.md has no "## What"`)
  const network = rule.network === true ? 'yes' : 'no'
  return [
    `# ${rule.id}\n\n${rule.title}.\n\n`,
    table(['check', 'severity', 'since', 'network'], [[rule.check, rule.severity, rule.since, network]]),
    text.slice(body).replace(exampleMark, (_match, path: string) => example(rule, path, fixtures)),
  ].join('')
}

/** A Markdown table whose columns are padded, as prettier does it; ends in a line break. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('')
}

/** The fixture's documents that hold an offending line (all, where there is none), as a block of code. */
function example(rule: AnyRule, path: string, fixtures: string): string {
  const file = join(fixtures, rule.id, path)
  if (!existsSync(file))
    throw new Error(`docs/rules/${rule.id}.md shows fixtures/rules/${rule.id}/${path}, which does not exist`)
  const text = readFileSync(file, 'utf8').trimEnd()
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  const offending = documents.filter((document) => document.includes(`# ${rule.id}`))
  const shown = (offending.length > 0 ? offending : documents)
    .map((document) => document.trimEnd())
    .join('\n---\n')
  return [`<!-- example ${path} -->`, '', '```yaml', shown, '```', '', '<!-- /example -->'].join('\n')
}

/** The index of all pages: the rules of each check, and apart from them those that opm enforces itself. */
export function renderIndex(all: readonly AnyRule[]): string {
  const list = (check: CheckId, isFixed: boolean) =>
    table(
      ['rule', 'severity', 'what it demands'],
      all
        .filter((rule) => rule.check === check && (rule.fixed ?? false) === isFixed)
        .map((rule) => [`[${rule.id}](${rule.id}.md)`, rule.severity, rule.title]),
    )
  return [
    '# Rules',
    '',
    'Every finding names its rule; the page says what the rule finds, why it matters and what to do.',
    'This list is made by `npm run rule-pages`.',
    '',
    'Severity and exceptions are set under `rules` in `.github/catalog-bot.yml`:',
    '',
    '```yaml',
    'rules:',
    '  edge-to-nowhere: off',
    '  downgrade-edge: error',
    '  icon-mismatch:',
    '    ignore: [some-package, "catalogs/v4.16/**"]',
    '```',
    '',
    ...checks.flatMap(({ id }) => {
      const heading = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
      const ofOpm = all.some((rule) => rule.check === id && rule.fixed)
        ? [
            `## ${heading}: what opm itself refuses`,
            '',
            'These cannot be switched off: a catalog that breaks one of them cannot be served.',
            '',
            list(id, true),
          ]
        : []
      return [`## ${heading}`, '', list(id, false), ...ofOpm]
    }),
  ].join('\n')
}

/** A page for one of opm's rules, whose finding already says all that there is to say. */
function opmPage({ id }: AnyRule): string {
  return `# ${id}

## What

\`opm validate\` refuses a catalog that breaks this rule, in these or in its own words. The finding names the object and what is wrong with it.

## Why

A catalog that opm refuses cannot be served. One such mistake takes all packages of the catalog away, not only the one it stands in.

## Fix

As the finding says. The rule cannot be switched off.
`
}

/** The pages below `root` as they should be: path from the root to text. */
export function renderPages(root: string): Map<string, string> {
  const pages = new Map<string, string>()
  for (const rule of pageRules) {
    const path = `docs/rules/${rule.id}.md`
    const file = join(root, path)
    const text = existsSync(file)
      ? readFileSync(file, 'utf8')
      : rule.fixed === true
        ? opmPage(rule)
        : undefined
    if (text === undefined) throw new Error(`${path} is missing`)
    pages.set(path, renewPage(text, rule, join(root, 'fixtures/rules')))
  }
  pages.set('docs/rules/README.md', renderIndex(pageRules))
  return pages
}

/** Pages that speak of no rule. */
export function strayPages(root: string): string[] {
  const known = new Set(['README.md', ...pageRules.map(({ id }) => `${id}.md`)])
  const directory = join(root, 'docs/rules')
  return existsSync(directory) ? readdirSync(directory).filter((name) => !known.has(name)) : []
}

if (process.argv[1] === import.meta.filename) {
  const args = process.argv.slice(2)
  const root = args.find((arg) => !arg.startsWith('--')) ?? join(import.meta.dirname, '..')
  let changed = 0
  for (const [path, text] of renderPages(root)) {
    const file = join(root, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    changed++
    process.stdout.write(`${path}: ${args.includes('--check') ? 'is out of date' : 'renewed'}\n`)
    if (args.includes('--check')) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  if (args.includes('--check') && changed > 0) process.exitCode = 1
}
