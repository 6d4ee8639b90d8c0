// The page of a rule as docs/rules has it, where the pages came along.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../../checks/all-rules.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'rules')

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

/** Undefined for what is no rule, whatever file there may be. */
export function readRuleText(id: string): string | undefined {
  if (!ruleIds.has(id)) return undefined
  const file = join(folder, `${id}.md`)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
