// `config.yaml` at the root lists the repository's maintainers. Ignores other tools' keys.
import { parseOwnerYaml, parsePrincipalList } from './owner-source.ts'
import type { OwnerSourceReadResult } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export const configYamlPath = 'config.yaml'

export function parseMaintainers(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  const document = parseOwnerYaml(file, text)
  return document.kind === 'broken' ? document : parsePrincipalList(document.value, 'maintainers')
}
