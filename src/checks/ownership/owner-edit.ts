// What a change to an owner file does to a package's owners: whom it adds, and whether any remain.
import type { TouchedPath } from '../../change/change.ts'
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { Surveyed } from './surveyed.ts'
import type { Authority } from './authority.ts'
import { readCatalogOwners } from './sources/catalog-owners.ts'
import { readCiYaml } from './sources/ci-yaml.ts'
import type { OwnerFile } from './owner-files.ts'
import { ownerFileAt } from './owner-files.ts'
import type { Read } from './sources/owner-source.ts'
import { readOwnersFile } from './sources/owners-file.ts'
import { principalKey, principalName } from './principal.ts'
import type { Principal } from './principal.ts'
import { ownerFileBroken } from './rules/owner-file-broken.ts'

export interface OwnerEdit {
  readonly added: readonly Principal[]
  readonly removed: readonly Principal[]
  /** Whether the edit needs approval: it adds people, leaves no other owner, or changes switches. */
  readonly changesOwners: boolean
  /** For people: `adds mallory`, `leaves no other owner`. */
  readonly words: string
  readonly findings: readonly Finding[]
}

/** `owners`: the base's owners for this file's package; `base` and `result`: authority of the two trees. */
export function ownerEdit(
  touched: TouchedPath,
  input: Surveyed,
  owners: readonly Principal[],
  base: Authority,
  result: Authority,
): OwnerEdit {
  const { path, role } = touched
  const file = ownerFileAt(path)
  const directory = 'directory' in role ? (role.directory ?? '') : ''
  const findings: Finding[] = []
  const text = input.ownerFiles.result.get(path)
  const after =
    touched.after === undefined
      ? undefined
      : text === undefined || file === undefined
        ? unreadable(path)
        : readAny(file, path, text)
  if (after?.kind === 'broken')
    for (const { at, problem } of after.problems)
      findings.push(finding(ownerFileBroken, at, { path, problem }))

  const baseText = input.ownerFiles.base.get(path)
  const before = baseText === undefined || file === undefined ? undefined : readAny(file, path, baseText)
  // Compare owners over all sources, so that moving a list between files adds no owner.
  const newOwners = result.ownersOf(path, directory)
  const oldOwners = base.ownersOf(path, directory)
  const had = new Set(owners.map(principalKey))
  const has = new Set(newOwners.map(principalKey))
  const author = input.snapshot.author?.login.toLowerCase()
  const others = (list: readonly Principal[]): readonly Principal[] =>
    list.filter((principal) => principal.kind !== 'user' || principal.login !== author)

  const added = newOwners.filter((principal) => !had.has(principalKey(principal)))
  const removed = oldOwners.filter((principal) => !has.has(principalKey(principal)))
  const structure = (read: Read<Shape> | undefined): string =>
    read?.kind === 'read' ? read.value.structure : ''
  const wordsFor = [
    added.length > 0 && `adds ${added.map(principalName).join(', ')}`,
    removed.length > 0 && `removes ${removed.map(principalName).join(', ')}`,
    removed.length > 0 && newOwners.length === 0 && 'leaves no owner',
    removed.length > 0 &&
      others(newOwners).length === 0 &&
      others(oldOwners).length > 0 &&
      'leaves no other owner',
    structure(before) !== structure(after) && 'changes the rules by which owners are found',
  ].filter((word) => word !== false)
  const changesOwners =
    findings.length > 0 ||
    added.length > 0 ||
    (removed.length > 0 &&
      (newOwners.length === 0 || (others(newOwners).length === 0 && others(oldOwners).length > 0))) ||
    structure(before) !== structure(after)
  return { added, removed, changesOwners, words: wordsFor.join('; ') || 'the people stay the same', findings }
}

interface Shape {
  readonly structure: string
}

function readAny(file: OwnerFile, path: string, text: string): Read<Shape> {
  switch (file.kind) {
    case 'ci.yaml': {
      const read = readCiYaml(path, text)
      return read.kind === 'broken'
        ? read
        : { kind: 'read', value: { structure: [...read.value.switches].toSorted().join(' ') } }
    }
    case 'owners': {
      const read = readOwnersFile(path, text)
      // Filters decide per path, so a change to them is more than a change of people.
      return read.kind === 'broken'
        ? read
        : {
            kind: 'read',
            value: { structure: (read.value.noParentOwners ? 'alone' : '') + read.value.filters },
          }
    }
    case 'catalog-owners': {
      const read = readCatalogOwners(path, text)
      return read.kind === 'broken' ? read : { kind: 'read', value: { structure: '' } }
    }
    case 'codeowners':
    case 'aliases':
    case 'config.yaml':
      // Repository-wide files belong to no package, so this is never reached for them.
      return unreadable(path)
  }
}

const unreadable = (path: string): Read<never> => ({
  kind: 'broken',
  problems: [{ at: { file: path, line: 1, column: 1 }, problem: 'it could not be read' }],
})
