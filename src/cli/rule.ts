// `rule ID`: prints the page of a rule from docs/rules, or in a build from rule-pages.json. Exit code 2: no such rule.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { readRulePage } from '../adapters/package-metadata.ts'
import { allRules } from '../checks/all-rules.ts'
import { computeEditDistance } from '../checks/validation/names.ts'
import { setExitCode, printToStdout, printJson, getRuleUrl } from './output.ts'

export function printRuleOrRuleList(
  id: string | undefined,
  { output }: { readonly output: 'text' | 'json' },
): void {
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
    for (const { id, severity, title } of rules)
      printToStdout(`${id.padEnd(width)}  ${severity.padEnd(7)}  ${title}`)
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
    throw new Error(`unknown rule "${escapeNonPrintableCharacters(id)}": ${hint}`)
  }
  const { severity, check, title } = found
  const page = readRulePage(id)?.trimEnd()
  if (output === 'json') printJson({ id, severity, check, title, url: getRuleUrl(id) ?? null, page })
  else
    printToStdout(
      page ?? [`${id}: ${title} (${check}, ${severity})`, getRuleUrl(id)].filter(Boolean).join('\n'),
    )
}

/** Returns at most three names, closest first, that differ in few letters or contain the input. */
export function findClosestNames(typed: string, names: readonly string[]): string[] {
  const maxDistance = Math.max(2, Math.floor(typed.length / 3))
  return names
    .map((name) => ({
      name,
      far: typed.length > 2 && name.includes(typed) ? 0 : computeEditDistance(typed, name),
    }))
    .filter(({ far }) => far <= maxDistance)
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name }) => name)
}
