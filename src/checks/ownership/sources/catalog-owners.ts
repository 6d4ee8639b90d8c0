// `CATALOG_OWNERS`: approvers and reviewers of the directory it lies in and everything below.
// Only approvers have authority; reviewers are read so that a broken list is noticed.
import { readOwnerYaml, readPeople } from './owner-source.ts'
import type { Read } from './owner-source.ts'
import { parsePrincipal } from '../principal.ts'
import type { Principal } from '../principal.ts'

const keys = ['approvers', 'reviewers']

/** Reads the file's text: two lists of logins or `organization/team` names. Any other key is a mistake, and breaks it. */
export function readCatalogOwners(file: string, text: string): Read<readonly Principal[]> {
  const document = readOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const stray = document.value.keys.find((key) => !keys.includes(key))
  if (stray !== undefined)
    return {
      kind: 'broken',
      problems: [
        {
          at: document.value.place(document.value.entry(stray)?.node),
          problem: `the key ${JSON.stringify(stray)} is not known`,
        },
      ],
    }
  const reviewers = readPeople(document.value, 'reviewers', parsePrincipal)
  if (reviewers.kind === 'broken') return reviewers
  return readPeople(document.value, 'approvers', parsePrincipal)
}
