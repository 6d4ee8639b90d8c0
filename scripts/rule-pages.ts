// Keeps the pages of rules true: the box (check, severity, since, network), the example, and the index.
// Everything else on a page is written by people and left alone. `node scripts/rule-pages.ts [--check] [ROOT]`;
// --check writes nothing and exits 1 when a page would change. CI runs it and wants an empty `git diff`.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AnyRule } from '../src/findings/rule.ts'
import { modelRules } from '../src/catalog/model-rules/all.ts'
import { rules } from '../src/checks/validation/rules.ts'

/** A rule as its page tells of it. */
export interface PageRule extends AnyRule {
  /** The release of catalog-bot, or of opm, that brought it. */
  readonly since: string
  /** Whether the rule needs an answer from the world. */
  readonly network: boolean
  /** `opm`: enforced by opm itself, no switch, no fixtures of its own. */
  readonly origin: 'opm' | 'catalog-bot'
}

/** Every rule that has a page, sorted by id. */
export const pageRules: readonly PageRule[] = [
  ...rules.map((rule) => ({ ...rule, network: false, origin: 'catalog-bot' as const })),
  ...modelRules.map((rule) => ({ ...rule, since: '0.1.0', network: false, origin: 'opm' as const })),
].sort((a, b) => (a.id < b.id ? -1 : 1))

const boxMark = /<!-- box -->[\s\S]*?<!-- \/box -->/
const exampleMark = /<!-- example (?<path>\S+) -->[\s\S]*?<!-- \/example -->/g

/** A page with its box and examples renewed. Throws an Error that says what is missing, when one cannot be. */
export function renewPage(text: string, rule: PageRule, fixtures: string): string {
  if (!text.startsWith(`# ${rule.id}\n`))
    throw new Error(`docs/rules/${rule.id}.md does not begin with "# ${rule.id}"`)
  if (!boxMark.test(text)) throw new Error(`docs/rules/${rule.id}.md has no <!-- box -->`)
  return text
    .replace(boxMark, () => box(rule))
    .replace(exampleMark, (_match, path: string) => example(rule, path, fixtures))
}

function box(rule: PageRule): string {
  const switchable = rule.origin === 'opm' ? 'no: opm refuses it' : 'yes'
  return [
    '<!-- box -->',
    '',
    `> ${rule.title}.`,
    '',
    '| check | severity | since | network | can be switched off |',
    '| --- | --- | --- | --- | --- |',
    `| ${rule.check} | ${rule.severity} | ${rule.since} | ${rule.network ? 'yes' : 'no'} | ${switchable} |`,
    '',
    '<!-- /box -->',
  ].join('\n')
}

/** The fixture's documents that hold an offending line (all, where there is none), as a block of code. */
function example(rule: PageRule, path: string, fixtures: string): string {
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

/** The index of all pages. */
export function renderIndex(all: readonly PageRule[]): string {
  const table = (some: readonly PageRule[]) => [
    '| rule | severity | what it demands |',
    '| --- | --- | --- |',
    ...some.map((rule) => `| [${rule.id}](${rule.id}.md) | ${rule.severity} | ${rule.title} |`),
  ]
  return [
    '# Rules',
    '',
    'Every finding names its rule; the page says what the rule finds, why it matters and what to do.',
    'This list is made by `npm run rule-pages`.',
    '',
    '## Rules of catalog-bot',
    '',
    'Part of the profile `full`. Severity and exceptions are set under `rules` in `.github/catalog-bot.yml`:',
    '',
    '```yaml',
    'rules:',
    '  edge-to-nowhere: off',
    '  downgrade-edge: error',
    '  icon-mismatch:',
    '    ignore: [some-package, "catalogs/v4.16/**"]',
    '```',
    '',
    ...table(all.filter(({ origin }) => origin === 'catalog-bot')),
    '',
    '## Rules of opm',
    '',
    'What `opm validate` refuses. They cannot be switched off: a catalog that breaks one of them cannot be served.',
    '',
    ...table(all.filter(({ origin }) => origin === 'opm')),
    '',
  ].join('\n')
}

/** A page for a rule that has none yet. Of opm's rules the words are all that there is to say. */
export function newPage(rule: Pick<AnyRule, 'id'>, examplePath?: string): string {
  const parts = [`# ${rule.id}`, '<!-- box -->\n<!-- /box -->']
  if (examplePath === undefined)
    parts.push(
      '`opm validate` refuses such a catalog, and so does the pod that would serve it. The finding says which object is meant, why it matters and what to do.',
    )
  else
    parts.push(
      '## What it finds',
      '## Why it matters',
      '## What to do',
      '## Example',
      `<!-- example ${examplePath} -->\n<!-- /example -->`,
    )
  return `${parts.join('\n\n')}\n`
}

/** The pages below `root` as they should be: path from the root to text. */
export function renderPages(root: string): Map<string, string> {
  const pages = new Map<string, string>()
  for (const rule of pageRules) {
    const path = `docs/rules/${rule.id}.md`
    const file = join(root, path)
    const text = existsSync(file)
      ? readFileSync(file, 'utf8')
      : rule.origin === 'opm'
        ? newPage(rule)
        : undefined
    if (text === undefined) throw new Error(`${path} is missing: npm run new-rule makes one`)
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
