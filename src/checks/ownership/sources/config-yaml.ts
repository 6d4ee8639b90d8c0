// `config.yaml` at the root lists the repository's maintainers. Ignores other tools' keys.
import { readOwnerYaml, readPeople } from './owner-source.ts'
import type { Read } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export const configYamlPath = 'config.yaml'

export function readMaintainers(file: string, text: string): Read<readonly Principal[]> {
  const document = readOwnerYaml(file, text)
  return document.kind === 'broken' ? document : readPeople(document.value, 'maintainers')
}
