// Reads a rule's page from docs/rules, if the docs are installed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../../checks/all-rules.ts'

const rulesFolder = join(import.meta.dirname, '..', '..', '..', 'docs', 'rules')

const knownRuleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

/** Undefined for unknown rules, so that no other file can be read. */
export function readRuleText(id: string): string | undefined {
  if (!knownRuleIds.has(id)) return undefined
  const file = join(rulesFolder, `${id}.md`)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
