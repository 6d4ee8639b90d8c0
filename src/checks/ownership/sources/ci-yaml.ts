// `operators/<directory>/ci.yaml`: the reviewers of one package, and switches of the release pipeline.
// Its other keys are the package's own business and are not judged here.
import { isScalar } from 'yaml'
import { readOwnerYaml, readPeople } from './owner-source.ts'
import type { Read } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export interface CiYaml {
  readonly reviewers: readonly Principal[]
  /** Values of the keys that choose rules elsewhere, as text: changing one is like changing who owns the package. */
  readonly switches: ReadonlyMap<string, string>
}

/** `merge` turns landing off, `cert_project_id` selects a partner's rules. */
const switchKeys = ['merge', 'cert_project_id'] as const

/** Reads the file's text. Reviewers are logins; teams and addresses are not known to this format. */
export function readCiYaml(file: string, text: string): Read<CiYaml> {
  const document = readOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const reviewers = readPeople(document.value, 'reviewers')
  if (reviewers.kind === 'broken') return reviewers
  const switches = new Map<string, string>()
  for (const key of switchKeys) {
    const node = document.value.entry(key)?.node
    if (node !== undefined) switches.set(key, isScalar(node) ? String(node.value) : 'not a plain value')
  }
  return { kind: 'read', value: { reviewers: reviewers.value, switches } }
}
