// Generates the pages of rules. The words of a page are those of the rule: its title, and the message of its finding in
// an example. Only the description between them is written manually. See rules.ts.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../src/checks/all-rules.ts'
import { checkDefinitions } from '../packages/findings/src/checks.ts'
import type { AnyFindingRule } from '../packages/findings/src/rule.ts'
import { readRuleExamples, renderExampleExcerpt, renderFullExample } from './rule-examples/render-example.ts'
import { impactByRuleId } from './rule-impact.ts'

/** Every rule, sorted by id: each has a page. */
export const rulesWithPages: readonly AnyFindingRule[] = allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** The description, and the path of the example. */
const rulePagePattern =
  /^# (?<id>\S+)\n\n(?:.*\n)?_.*_\n\n(?<description>[\s\S]+?)\n\nIn \[this example\]\(\S+?\/(?<path>bad\/[^)]+?)\/?\)/

/**
 * A page with everything updated except its description. A full page has all examples and the message of opm, and no
 * links out of its folder. Throws an Error that names the missing part if that is impossible.
 */
export async function updateRulePage(
  text: string,
  rule: AnyFindingRule,
  fixtures: string,
  { isFull = false } = {},
): Promise<string> {
  const { id, description, path } = rulePagePattern.exec(text)?.groups ?? {}
  if (id !== rule.id || description === undefined || path === undefined)
    throw new Error(`docs/rules/${rule.id}.md needs "# ${rule.id}", a description, and an example`)
  const examples = await readRuleExamples(rule, path, fixtures)
  const [first] = examples
  if (first === undefined) throw new Error(`${rule.id} has no example`)
  const { what, why, fix } = first.finding
  const [where, details] = isFull
    ? ['the first example', examples.flatMap((example) => renderFullExample(example, example === first))]
    : [`[this example](../../fixtures/rules/${rule.id}/${path})`, renderExampleExcerpt(first, rule.id)]
  const message = Object.entries({ What: what, Why: why, Fix: fix }).flatMap(([label, words]) =>
    words === '' ? [] : [`- **${label}:** ${escapeMarkdown(words, isFull)}`],
  )
  return [
    ...[`# ${rule.id}`, '', `${rule.title}.`, `_${describeRule(rule)}_`, '', joinLines(description), ''],
    ...[`In ${where}, catalog-bot reports:`, ...(isFull ? [''] : []), ...message, ...details, ''],
  ].join('\n')
}

function describeRule(rule: AnyFindingRule): string {
  return [
    `Check: ${rule.check}; severity: ${rule.severity}; since: ${rule.since}; network: ${rule.network ? 'yes' : 'no'}`,
    ...(rule.fixed ? ['cannot be disabled, because opm rejects the catalog'] : []),
    ...(rule.overridable && !rule.fixed
      ? ['[`/override`](../how-to/owners.md#override-a-rule) allowed']
      : []),
    ...(rule.suite ? [`reported only with \`--suite ${rule.suite}\` or a severity under \`rules\``] : []),
  ].join('; ')
}

/** Escapes what would be HTML, emphasis, a link, or an escape outside code. In a full page, which a terminal shows, only the last two. */
function escapeMarkdown(text: string, isFull: boolean): string {
  const unescapedPattern = isFull ? /^[`<*]/ : /^`/
  return text.replaceAll(/`[^`]*`|[<*]|\\(?=[!-/:-@[-`{-~])|(?<=\])\(/g, (found) =>
    unescapedPattern.test(found) ? found : `\\${found}`,
  )
}

/** Paragraphs and list items without the line breaks of an editor. */
const joinLines = (text: string) => text.replaceAll(/(?<=\S)\n(?: {2,}|(?=[\w`"'([]))/g, ' ')

/**
 * The index of all pages: the written introduction, and a table for each check. Throws an Error for an error without a reason why it blocks, and for
 * a reason whose rule no longer blocks.
 */
export function updateRuleIndex(
  text: string,
  all: readonly AnyFindingRule[],
  harm: Readonly<Record<string, string>> = impactByRuleId,
): string {
  const blocking = new Set(all.filter(isBlockingRule).map(({ id }) => id))
  for (const id of Object.keys(harm))
    if (!blocking.has(id)) throw new Error(`scripts/rule-impact.ts contains ${id}, which is not an error`)
  for (const id of blocking)
    if (harm[id] === undefined) throw new Error(`scripts/rule-impact.ts does not contain ${id}`)
  const tables = checkDefinitions.flatMap(({ id: check }) => [
    ...['', `## ${check.charAt(0).toUpperCase()}${check.slice(1)}`, ''],
    ...['| rule | severity | what it requires | why it blocks |', '| --- | --- | --- | --- |'],
    ...all
      .filter((rule) => rule.check === check)
      .map(({ id, severity, fixed, title }) =>
        [`| [${id}](${id}.md)`, fixed ? 'opm' : severity, title, harm[id] ? `${harm[id]} |` : '|'].join(
          ' | ',
        ),
      ),
  ])
  return [(text.split('\n## ')[0] ?? '').trimEnd(), ...tables, ''].join('\n')
}

const isBlockingRule = ({ severity, fixed }: AnyFindingRule) => severity === 'error' && fixed !== true

/** The expected pages below `root`, by path from the root. */
export async function renderRulePages(root: string): Promise<Map<string, string>> {
  const pages = [...(await readRulePages(root))].map(([id, text]) => [`docs/rules/${id}.md`, text] as const)
  const index = readFileSync(join(root, 'docs/rules/README.md'), 'utf8')
  return new Map([...pages, ['docs/rules/README.md', updateRuleIndex(index, rulesWithPages)]])
}

/** The updated page of every rule, by ID. */
export async function readRulePages(
  root: string,
  options?: { readonly isFull: boolean },
): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const rule of rulesWithPages) {
    const text = readFileSync(join(root, `docs/rules/${rule.id}.md`), 'utf8')
    pages.set(rule.id, await updateRulePage(text, rule, join(root, 'fixtures/rules'), options))
  }
  return pages
}

/** Pages that do not belong to a rule. */
export function findOrphanedRulePages(root: string): string[] {
  const known = new Set(['README.md', ...rulesWithPages.map(({ id }) => `${id}.md`)])
  return readdirSync(join(root, 'docs/rules')).filter((name) => !known.has(name))
}
