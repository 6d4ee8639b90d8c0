// `CATALOG_OWNERS`: approvers and reviewers of a directory and everything below. Only approvers have authority.
// Reviewers are parsed only to detect invalid lists.
import { parseOwnerYaml, parsePrincipalList } from './owner-source.ts'
import type { OwnerSourceReadResult } from './owner-source.ts'
import { parsePrincipal } from '../principal.ts'
import type { Principal } from '../principal.ts'

const knownCatalogOwnersKeys = ['approvers', 'reviewers']

/** Two lists of logins or `organization/team` names. Any other key makes the file invalid. */
export function parseCatalogOwners(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  const document = parseOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const stray = document.value.keys.find((key) => !knownCatalogOwnersKeys.includes(key))
  if (stray !== undefined)
    return {
      kind: 'broken',
      problems: [
        {
          at: document.value.locate(document.value.entry(stray)?.node),
          problem: `the key ${JSON.stringify(stray)} is unknown`,
        },
      ],
    }
  const reviewers = parsePrincipalList(document.value, 'reviewers', parsePrincipal)
  if (reviewers.kind === 'broken') return reviewers
  return parsePrincipalList(document.value, 'approvers', parsePrincipal)
}
