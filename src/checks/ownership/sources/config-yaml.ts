// `config.yaml` at the root lists the repository's maintainers. Ignores other tools' keys.
import { readOwnerYaml, readPrincipals } from './owner-source.ts'
import type { SourceReadResult } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export const configYamlPath = 'config.yaml'

export function readMaintainers(file: string, text: string): SourceReadResult<readonly Principal[]> {
  const document = readOwnerYaml(file, text)
  return document.kind === 'broken' ? document : readPrincipals(document.value, 'maintainers')
}
