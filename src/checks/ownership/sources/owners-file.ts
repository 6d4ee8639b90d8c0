// Prow's OWNERS files and OWNERS_ALIASES: approvers by directory, inherited unless `no_parent_owners` is set. An
// invalid file removes authority below it. Neither parents' approvers nor alias names replace it.
import { isMap, isScalar } from 'yaml'
import {
  parseOwnerFile,
  readPrincipalList,
  readYamlStringList,
  rejectOwnerFile,
  rejectUnknownOwnerFileKeys,
  type OwnerYamlDocument,
  type OwnerSourceReadResult,
} from './owner-source.ts'
import { formatPrincipal, parseUserPrincipal, type Principal } from '../principals.ts'
import { iterateAncestorDirectories } from '../../../pull-request/layout/layout.ts'

/** The path is relative to the OWNERS file's directory. */
type OwnersPathFilter = (relative: string) => boolean

const unsupportedRegexCharacterPattern = /[\\.+*?()|[\]{}^$]/

export const ownersFileName = 'OWNERS'
export const ownersAliasesPath = 'OWNERS_ALIASES'

/** Names are lowercase and unresolved: a login or an alias. */
export interface OwnersFile {
  readonly noParentOwners: boolean
  /** Equal text for equal filters; empty without any. */
  readonly filters: string
  /** Approvers, and the files below the directory that they approve. */
  readonly approvers: readonly { readonly matches: OwnersPathFilter; readonly names: readonly string[] }[]
}

export type OwnersAliases = ReadonlyMap<string, readonly Principal[]>

const knownOwnersFilterKeys = [
  'approvers',
  'reviewers',
  'required_reviewers',
  'labels',
  'emeritus_approvers',
  'emeritus_reviewers',
]
const knownOwnersFileKeys = [...knownOwnersFilterKeys, 'options', 'filters']
const knownOwnersOptionKeys = ['no_parent_owners', 'auto_approve_unowned_subfolders']

/** Keys that Prow does not know make the file invalid. */
export function parseOwnersFile(file: string, text: string): OwnerSourceReadResult<OwnersFile> {
  return parseOwnerFile(file, text, (document) => {
    rejectUnknownOwnerFileKeys(document, knownOwnersFileKeys)
    const options = readOwnersOptions(document)
    const filters = document.node('filters')
    if (filters === undefined) {
      const names = readApproverNames(document)
      return { ...options, filters: '', approvers: [{ matches: () => true, names }] }
    }
    const approvers = readOwnersFilters(document, filters)
    if (document.node('approvers') !== undefined)
      rejectOwnerFile(document.locate(filters), 'approvers and filters are mutually exclusive')
    return { ...options, filters: JSON.stringify(filters), approvers }
  })
}

/** Parses OWNERS_ALIASES: `aliases` maps a name to a list of logins. */
export function parseOwnersAliases(file: string, text: string): OwnerSourceReadResult<OwnersAliases> {
  return parseOwnerFile(file, text, (document) => {
    rejectUnknownOwnerFileKeys(document, ['aliases'])
    const node = document.node('aliases')
    const aliases = new Map<string, readonly Principal[]>()
    if (node === undefined || node === null || (isScalar(node) && !node.value)) return aliases
    if (!isMap(node)) return rejectOwnerFile(document.locate(node), 'aliases must be a mapping')
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value).toLowerCase() : ''
      const members = readYamlStringList(document, pair.value as never, `aliases.${name}`).map(
        ({ text: member, at }) =>
          parseUserPrincipal(member) ?? rejectOwnerFile(at, `${JSON.stringify(member)} is not a login`),
      )
      if (name === '' || aliases.has(name))
        rejectOwnerFile(document.locate(pair.key), 'each alias must have a unique name')
      aliases.set(name, members)
    }
    return aliases
  })
}

/**
 * The approvers of `path`, from its directory up to the root. `files` is keyed by directory ('' for the root).
 * Undefined if a file on the way is broken.
 */
export function findInheritedApprovers(
  path: string,
  files: ReadonlyMap<string, OwnerSourceReadResult<OwnersFile>>,
  aliases: OwnersAliases,
): readonly Principal[] | undefined {
  const approvers: Principal[] = []
  for (const directory of iterateAncestorDirectories(path)) {
    const file = files.get(directory)
    if (file === undefined) continue
    if (file.kind === 'broken') return undefined
    const relative = directory === '' ? path : path.slice(directory.length + 1)
    for (const { matches, names } of file.value.approvers)
      if (matches(relative)) for (const name of names) approvers.push(...resolveOwnersAlias(name, aliases))
    if (file.value.noParentOwners) break
  }
  return approvers
}

function resolveOwnersAlias(name: string, aliases: OwnersAliases): readonly Principal[] {
  const members = aliases.get(name)
  if (members !== undefined) return members
  const person = parseUserPrincipal(name)
  return person === undefined ? [] : [person]
}

/** Lowercase names of logins or aliases. */
function readApproverNames(document: OwnerYamlDocument): readonly string[] {
  return readPrincipalList(document, 'approvers').map(formatPrincipal)
}

function readOwnersOptions(document: OwnerYamlDocument): { readonly noParentOwners: boolean } {
  const node = document.node('options')
  let noParentOwners = false
  if (node === undefined || node === null) return { noParentOwners }
  if (!isMap(node)) return rejectOwnerFile(document.locate(node), 'options must be a mapping')
  for (const pair of node.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    const value = isScalar(pair.value) ? String(pair.value.value) : ''
    if (!knownOwnersOptionKeys.includes(key) || !['true', 'false'].includes(value))
      rejectOwnerFile(
        document.locate(pair.key),
        `the option ${JSON.stringify(key)} is unknown, or its value is not true or false`,
      )
    if (key === 'no_parent_owners') noParentOwners = value === 'true'
  }
  return { noParentOwners }
}

function readOwnersFilters(document: OwnerYamlDocument, node: unknown): OwnersFile['approvers'] {
  if (!isMap(node)) return rejectOwnerFile(document.locate(node), 'filters must be a mapping')
  return node.items.map((pair) => {
    const pattern = isScalar(pair.key) ? String(pair.key.value) : ''
    const matches =
      parsePathFilter(pattern) ??
      rejectOwnerFile(
        document.locate(pair.key),
        `the filter ${JSON.stringify(pattern)} contains something other than literal text, .*, ^, and $`,
      )
    if (!isMap(pair.value))
      return rejectOwnerFile(document.locate(pair.value), 'a filter must contain lists of approvers')
    const entries = new Map(
      pair.value.items.map((item) => [isScalar(item.key) ? String(item.key.value) : '', item.value as never]),
    )
    const inner = { ...document, keys: () => [...entries.keys()], node: (key: string) => entries.get(key) }
    rejectUnknownOwnerFileKeys(inner, knownOwnersFilterKeys)
    return { matches, names: readApproverNames(inner) }
  })
}

/** Undefined if the pattern is not supported. Matching is linear in the path. */
export function parsePathFilter(pattern: string): OwnersPathFilter | undefined {
  const anchoredStart = pattern.startsWith('^')
  const anchoredEnd = pattern.endsWith('$') && !pattern.endsWith('\\$')
  const body = pattern.slice(anchoredStart ? 1 : 0, anchoredEnd ? -1 : undefined)
  const pieces: string[] = ['']
  for (let at = 0; at < body.length; at += 1) {
    const char = body.charAt(at)
    if (char === '.' && body.charAt(at + 1) === '*') {
      pieces.push('')
      at += 1
    } else if (
      char === '\\' &&
      at + 1 < body.length &&
      unsupportedRegexCharacterPattern.test(body.charAt(at + 1))
    ) {
      pieces.push(pieces.pop() + body.charAt(at + 1))
      at += 1
    } else if (unsupportedRegexCharacterPattern.test(char)) return undefined
    else pieces.push(pieces.pop() + char)
  }
  return (relative) => containsLiteralsInOrder(relative, pieces, anchoredStart, anchoredEnd)
}

function containsLiteralsInOrder(text: string, pieces: readonly string[], start: boolean, end: boolean) {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) {
    if (start && end) return text === first
    if (start) return text.startsWith(first)
    return end ? text.endsWith(first) : text.includes(first)
  }
  let from = start ? (text.startsWith(first) ? first.length : -1) : findLiteralEnd(text, first, 0)
  for (const piece of pieces.slice(1, -1)) if (from >= 0) from = findLiteralEnd(text, piece, from)
  if (from < 0) return false
  return end
    ? text.length - last.length >= from && text.endsWith(last)
    : findLiteralEnd(text, last, from) >= 0
}

function findLiteralEnd(text: string, piece: string, from: number): number {
  const at = text.indexOf(piece, from)
  return at < 0 ? -1 : at + piece.length
}
