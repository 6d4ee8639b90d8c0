// `rule ID`: prints the page of a rule from docs/rules, which the package includes. Exit code 2: the rule does not exist.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../checks/all-rules.ts'
import { toPrintable } from '@catalog-bot/findings/printable'
import { findClosestNames } from './closest-names.ts'
import { setExitCode, print, printJson } from './output.ts'
import { getRuleUrl } from './rule-url.ts'
import { findPackageFolder } from './version.ts'

export function printRule(id: string | undefined, { output }: { readonly output: 'text' | 'json' }): void {
  if (id === undefined) printRuleList(output)
  else printRuleDescription(id, output)
  setExitCode(0)
}

function printRuleList(output: 'text' | 'json'): void {
  const rules = allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (output === 'json')
    printJson(rules.map(({ id, severity, check, title }) => ({ id, severity, check, title })))
  else {
    const width = Math.max(...rules.map(({ id }) => id.length))
    for (const { id, severity, title } of rules) print(`${id.padEnd(width)}  ${severity.padEnd(7)}  ${title}`)
  }
}

function printRuleDescription(id: string, output: 'text' | 'json'): void {
  const found = allRules.find((one) => one.id === id)
  if (found === undefined) {
    const alike = findClosestNames(
      id,
      allRules.map((one) => one.id),
    )
    const hint =
      alike.length > 0 ? `did you mean ${alike.join(' or ')}?` : 'to list all rules, run "catalog-bot rule"'
    throw new Error(`unknown rule "${toPrintable(id)}": ${hint}`)
  }
  const { severity, check, title } = found
  const page = readRulePageText(id)
  if (output === 'json') printJson({ id, severity, check, title, url: getRuleUrl(id), page })
  else print(page ?? `${id}: ${title} (${check}, ${severity})\n${getRuleUrl(id)}`)
}

function readRulePageText(id: string): string | undefined {
  const text = readRulePage(id)
  return text?.replace(/^<!--.*-->\n\n?/gm, '').trimEnd()
}

function readRulePage(id: string): string | undefined {
  const folder = findPackageFolder()
  const page = join(folder, 'docs', 'rules', `${id}.md`)
  if (existsSync(page)) return readFileSync(page, 'utf8')
  const all = join(folder, 'dist', 'rule-pages.json')
  if (!existsSync(all)) return undefined
  return (JSON.parse(readFileSync(all, 'utf8')) as Readonly<Record<string, string>>)[id]
}
