// `config.yaml` at the root lists the repository's maintainers. Ignores other tools' keys.
import { parseOwnerYaml, readPrincipals } from './owner-source.ts'
import type { OwnerSourceReadResult } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export const configYamlPath = 'config.yaml'

export function readMaintainers(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  const document = parseOwnerYaml(file, text)
  return document.kind === 'broken' ? document : readPrincipals(document.value, 'maintainers')
}
