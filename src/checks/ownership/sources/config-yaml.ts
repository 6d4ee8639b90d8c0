// `config.yaml` at the root: the maintainers of the repository. Its other keys belong to other tools.
import { readOwnerYaml, readPeople } from './owner-source.ts'
import type { Read } from './owner-source.ts'
import type { Principal } from '../principal.ts'

export const configYamlPath = 'config.yaml'

/** Reads the file's text: `maintainers` is a list of logins. */
export function readMaintainers(file: string, text: string): Read<readonly Principal[]> {
  const document = readOwnerYaml(file, text)
  return document.kind === 'broken' ? document : readPeople(document.value, 'maintainers')
}
