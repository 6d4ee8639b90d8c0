// Analyzes how a change to an owner file affects a package's owners: which owners it adds, and whether any remain.
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { TouchedPath } from '../../pull-request/change.ts'
import type { OwnershipResolver } from './authority.ts'
import {
  createBrokenOwnerSourceResult,
  type OwnerSourceReadResult,
  parseCatalogOwners,
  parseOwnershipCiYaml,
} from './sources/owner-source.ts'
import { type OwnerFile, parseOwnerFilePath } from './owner-files.ts'
import { parseOwnersFile } from './sources/owners-file.ts'
import {
  canPrincipalApprove,
  toPrincipalKey,
  formatPrincipal,
  normalizeLogin,
  type Principal,
} from './principals.ts'
import { ownerFileBrokenRule } from './rules.ts'
import type { CheckInput } from '../check.ts'
import type { GitHubAccount } from '../../pull-request/snapshot.ts'

/** The input that determines required approvals, without comments, reviews, or answers. */
export const ownershipInputKeys = [
  'change',
  'layout',
  'basePaths',
  'packagesByDirectory',
  'ownerFiles',
  'config',
  'snapshot',
] as const satisfies readonly (keyof CheckInput)[]

export type OwnershipInputs = Pick<CheckInput, (typeof ownershipInputKeys)[number]>

export interface OwnerFileEdit {
  readonly added: readonly Principal[]
  readonly removed: readonly Principal[]
  /** Whether the edit needs approval because it adds owners, leaves no other owner, or changes switches. */
  readonly changesOwners: boolean
  /** Readable text: `adds mallory`, `leaves no other owner`. Stored with approvals, so do not reword it. */
  readonly description: string
  readonly findings: readonly Finding[]
}

/** `owners`: the base's owners for this file's package; `base` and `result`: authority of the two trees. */
export function analyzeOwnerFileEdit(
  touched: TouchedPath,
  input: OwnershipInputs,
  owners: readonly Principal[],
  base: OwnershipResolver,
  result: OwnershipResolver,
): OwnerFileEdit {
  const { path, role } = touched
  const file = parseOwnerFilePath(path)
  const directory = 'directory' in role ? (role.directory ?? '') : ''
  const findings: Finding[] = []
  const text = input.ownerFiles.result.get(path)
  const after =
    touched.after === undefined
      ? undefined
      : text === undefined || file === undefined
        ? createUnreadableOwnerFileResult(path)
        : parseOwnerFileStructure(file, path, text)
  if (after?.kind === 'broken')
    for (const { at, problem } of after.problems)
      findings.push(createFinding(ownerFileBrokenRule, at, { path, problem }))

  const baseText = input.ownerFiles.base.get(path)
  const before =
    baseText === undefined || file === undefined ? undefined : parseOwnerFileStructure(file, path, baseText)
  // Compares owners over all sources, so that moving a list between files does not add an owner.
  const newOwners = result.ownersOf(path, directory)
  const oldOwners = base.ownersOf(path, directory)
  const had = new Set(owners.map(toPrincipalKey))
  const has = new Set(newOwners.map(toPrincipalKey))
  const { author } = input.snapshot
  const added = newOwners.filter((principal) => !had.has(toPrincipalKey(principal)))
  const removed = oldOwners.filter((principal) => !has.has(toPrincipalKey(principal)))
  const hasOthers = hasOtherApprover(newOwners, author) || !hasOtherApprover(oldOwners, author)
  const isRestructured = getOwnerFileStructure(before) !== getOwnerFileStructure(after)
  const phrases = [
    added.length > 0 && `adds ${added.map(formatPrincipal).join(', ')}`,
    removed.length > 0 && `removes ${removed.map(formatPrincipal).join(', ')}`,
    removed.length > 0 && newOwners.length === 0 && 'leaves no owner',
    removed.length > 0 && !hasOthers && 'leaves no other owner',
    isRestructured && 'changes the rules that determine the owners',
  ].filter((phrase) => phrase !== false)
  const changesOwners =
    findings.length > 0 ||
    added.length > 0 ||
    (removed.length > 0 && (newOwners.length === 0 || !hasOthers)) ||
    isRestructured
  return {
    added,
    removed,
    changesOwners,
    description: phrases.join('; ') || 'the people stay the same',
    findings,
  }
}

function hasOtherApprover(owners: readonly Principal[], author: GitHubAccount | null): boolean {
  const isAuthor = (principal: Principal): boolean =>
    author !== null &&
    principal.kind === 'user' &&
    // An owner who is listed by id can have another login now.
    (principal.id === author.id || principal.login === normalizeLogin(author))
  return owners.some((principal) => canPrincipalApprove(principal) && !isAuthor(principal))
}

function mapOwnerSource<From, To>(
  source: OwnerSourceReadResult<From>,
  convert: (value: From) => To,
): OwnerSourceReadResult<To> {
  return source.kind === 'broken' ? source : { kind: 'read', value: convert(source.value) }
}

const getOwnerFileStructure = (read: OwnerSourceReadResult<string> | undefined): string =>
  read?.kind === 'read' ? read.value : ''

/** The parts of a file, as text, that determine owners beyond the list of names. */
function parseOwnerFileStructure(file: OwnerFile, path: string, text: string): OwnerSourceReadResult<string> {
  switch (file.kind) {
    case 'ci.yaml':
      return mapOwnerSource(parseOwnershipCiYaml(path, text), ({ switches }) =>
        [...switches].toSorted().join(' '),
      )
    case 'owners':
      // Filters apply per path, so changing them affects more than the list of owners.
      return mapOwnerSource(
        parseOwnersFile(path, text),
        ({ noParentOwners, filters }) => (noParentOwners ? 'alone' : '') + filters,
      )
    case 'catalog-owners':
      return mapOwnerSource(parseCatalogOwners(path, text), () => '')
    case 'codeowners':
    case 'aliases':
    case 'config.yaml':
      // Repository-wide files do not belong to a package, so this is never reached for them.
      return createUnreadableOwnerFileResult(path)
  }
}

const createUnreadableOwnerFileResult = (path: string) =>
  createBrokenOwnerSourceResult({ file: path, line: 1, column: 1 }, 'the file could not be read')
