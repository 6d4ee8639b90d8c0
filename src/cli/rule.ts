// `rule ID`: the page of a rule, as it lies in docs/rules, in the package too. Exit 2 where there is no such rule.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../checks/all-rules.ts'
import { printable } from '../findings/printable.ts'
import { closestNames } from './closest-names.ts'
import { exitWith, print, printJson } from './output.ts'
import { rulePage } from './rule-address.ts'
import { packageFolder } from './version.ts'

export function rule(id: string | undefined, { output }: { readonly output: 'text' | 'json' }): void {
  if (id === undefined) listRules(output)
  else describeRule(id, output)
  exitWith(0)
}

function listRules(output: 'text' | 'json'): void {
  const rules = allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (output === 'json')
    printJson(rules.map(({ id, severity, check, title }) => ({ id, severity, check, title })))
  else {
    const width = Math.max(...rules.map(({ id }) => id.length))
    for (const { id, severity, title } of rules) print(`${id.padEnd(width)}  ${severity.padEnd(7)}  ${title}`)
  }
}

function describeRule(id: string, output: 'text' | 'json'): void {
  const found = allRules.find((one) => one.id === id)
  if (found === undefined) {
    const alike = closestNames(
      id,
      allRules.map((one) => one.id),
    )
    const hint =
      alike.length > 0 ? `did you mean ${alike.join(' or ')}?` : '"catalog-bot rule" lists them all'
    throw new Error(`there is no rule "${printable(id)}": ${hint}`)
  }
  const { severity, check, title } = found
  const page = pageOf(id)
  if (output === 'json') printJson({ id, severity, check, title, url: rulePage(id), page })
  else print(page ?? `${id}: ${title} (${check}, ${severity})\n${rulePage(id)}`)
}

function pageOf(id: string): string | undefined {
  const text = readPage(id)
  return text?.replace(/^<!--.*-->\n\n?/gm, '').trimEnd()
}

function readPage(id: string): string | undefined {
  const folder = packageFolder()
  const page = join(folder, 'docs', 'rules', `${id}.md`)
  if (existsSync(page)) return readFileSync(page, 'utf8')
  const all = join(folder, 'dist', 'rule-pages.json')
  if (!existsSync(all)) return undefined
  return (JSON.parse(readFileSync(all, 'utf8')) as Readonly<Record<string, string>>)[id]
}
