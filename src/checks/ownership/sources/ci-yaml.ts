// `operators/<directory>/ci.yaml`: a package's reviewers and its switches for the release pipeline. Ignores other keys.
import { isScalar } from 'yaml'
import { parseOwnerYaml, parsePrincipalList } from './owner-source.ts'
import type { OwnerSourceReadResult } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export interface OwnershipCiYaml {
  readonly reviewers: readonly Principal[]
  /** Values of keys that select rules elsewhere. Changing one needs the same approval as changing owners. */
  readonly switches: ReadonlyMap<string, string>
}

/** `merge` disables merging, `cert_project_id` selects a partner's rules. */
const ruleSelectingCiYamlKeys = ['merge', 'cert_project_id'] as const

/** Reviewers are logins; this format has no teams or addresses. */
export function parseOwnershipCiYaml(file: string, text: string): OwnerSourceReadResult<OwnershipCiYaml> {
  const document = parseOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const reviewers = parsePrincipalList(document.value, 'reviewers')
  if (reviewers.kind === 'broken') return reviewers
  const switches = new Map<string, string>()
  for (const key of ruleSelectingCiYamlKeys) {
    const node = document.value.entry(key)?.node
    if (node !== undefined) switches.set(key, isScalar(node) ? String(node.value) : 'not a plain value')
  }
  return { kind: 'read', value: { reviewers: reviewers.value, switches } }
}
