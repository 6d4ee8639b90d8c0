// Prow's OWNERS files and OWNERS_ALIASES: approvers by directory, inherited unless `no_parent_owners` is set. A broken
// file removes authority below it: neither parents' approvers nor alias names replace it.
import { isMap, isScalar } from 'yaml'
import { broken, readOwnerYaml, readPeople, readTexts, textsOf } from './owner-source.ts'
import type { OwnerDocument, Read } from './owner-source.ts'
import { parseLogin } from '../principal.ts'
import type { Principal } from '../principal.ts'
import { foldersAbove } from '../../../change/layout/layout.ts'
import { parseFilter } from './owners-filter.ts'
import type { Filter } from './owners-filter.ts'

export const ownersName = 'OWNERS'
export const aliasesPath = 'OWNERS_ALIASES'

/** Names are lower case and unresolved: a login or an alias. */
export interface OwnersFile {
  readonly noParentOwners: boolean
  /** Equal text for equal filters; empty without any. */
  readonly filters: string
  /** Approvers, and the files below the directory that they approve. */
  readonly approvers: readonly { readonly matches: Filter; readonly names: readonly string[] }[]
}

export type Aliases = ReadonlyMap<string, readonly Principal[]>

const everything: Filter = () => true
const keys = [
  'approvers',
  'reviewers',
  'required_reviewers',
  'labels',
  'options',
  'filters',
  'emeritus_approvers',
  'emeritus_reviewers',
]
const filterKeys = [
  'approvers',
  'reviewers',
  'required_reviewers',
  'labels',
  'emeritus_approvers',
  'emeritus_reviewers',
]
const optionKeys = ['no_parent_owners', 'auto_approve_unowned_subfolders']

/** Keys that Prow does not know break the file. */
export function readOwnersFile(file: string, text: string): Read<OwnersFile> {
  const document = readOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const stray = strayKey(document.value, keys)
  if (stray !== undefined) return stray
  const options = readOptions(document.value)
  if (options.kind === 'broken') return options
  const filters = document.value.entry('filters')
  const approvers =
    filters === undefined ? readPlainApprovers(document.value) : readFilters(document.value, filters.node)
  if (approvers.kind === 'broken') return approvers
  if (filters !== undefined && document.value.entry('approvers') !== undefined)
    return broken(document.value.place(filters.node), 'approvers and filters exclude one another')
  const shape = filters === undefined ? '' : JSON.stringify(filters.node)
  return { kind: 'read', value: { ...options.value, filters: shape, approvers: approvers.value } }
}

/** Parses OWNERS_ALIASES: `aliases` maps a name to a list of logins. */
export function readAliases(file: string, text: string): Read<Aliases> {
  const document = readOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const stray = strayKey(document.value, ['aliases'])
  if (stray !== undefined) return stray
  const node = document.value.entry('aliases')?.node
  const aliases = new Map<string, readonly Principal[]>()
  if (node === undefined || node === null || (isScalar(node) && !node.value))
    return { kind: 'read', value: aliases }
  if (!isMap(node)) return broken(document.value.place(node), 'aliases must be a mapping')
  for (const pair of node.items) {
    const name = isScalar(pair.key) ? String(pair.key.value).toLowerCase() : ''
    const texts = textsOf(document.value, pair.value as never, `aliases.${name}`)
    if (texts.kind === 'broken') return texts
    const members: Principal[] = []
    for (const { text: member, at } of texts.value) {
      const principal = parseLogin(member)
      if (principal === undefined) return broken(at, `${JSON.stringify(member)} is not a login`)
      members.push(principal)
    }
    if (name === '' || aliases.has(name))
      return broken(document.value.place(pair.key), 'an alias needs one name')
    aliases.set(name, members)
  }
  return { kind: 'read', value: aliases }
}

/**
 * The approvers of `path`, from its directory up to the root. `files` is keyed by directory ('' for the root).
 * Undefined if a file on the way is broken.
 */
export function approversOf(
  path: string,
  files: ReadonlyMap<string, Read<OwnersFile>>,
  aliases: Aliases,
): readonly Principal[] | undefined {
  const approvers: Principal[] = []
  for (const directory of foldersAbove(path)) {
    const file = files.get(directory)
    if (file === undefined) continue
    if (file.kind === 'broken') return undefined
    const relative = directory === '' ? path : path.slice(directory.length + 1)
    for (const { matches, names } of file.value.approvers)
      if (matches(relative)) for (const name of names) approvers.push(...resolve(name, aliases))
    if (file.value.noParentOwners) break
  }
  return approvers
}

function resolve(name: string, aliases: Aliases): readonly Principal[] {
  const members = aliases.get(name)
  if (members !== undefined) return members
  const person = parseLogin(name)
  return person === undefined ? [] : [person]
}

function strayKey(document: OwnerDocument, known: readonly string[]): Read<never> | undefined {
  const stray = document.keys.find((key) => !known.includes(key))
  return stray === undefined
    ? undefined
    : broken(document.place(document.entry(stray)?.node), `the key ${JSON.stringify(stray)} is not known`)
}

function readPlainApprovers(document: OwnerDocument): Read<OwnersFile['approvers']> {
  const names = readNames(document, 'approvers')
  return names.kind === 'broken'
    ? names
    : { kind: 'read', value: [{ matches: everything, names: names.value }] }
}

function readNames(document: OwnerDocument, key: string): Read<readonly string[]> {
  const checked = readPeople(document, key)
  if (checked.kind === 'broken') return checked
  const texts = readTexts(document, key)
  return texts.kind === 'broken'
    ? texts
    : { kind: 'read', value: texts.value.map(({ text }) => text.toLowerCase()) }
}

function readOptions(document: OwnerDocument): Read<{ noParentOwners: boolean }> {
  const node = document.entry('options')?.node
  if (node === undefined || node === null) return { kind: 'read', value: { noParentOwners: false } }
  if (!isMap(node)) return broken(document.place(node), 'options must be a mapping')
  let noParentOwners = false
  for (const pair of node.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    const value = isScalar(pair.value) ? String(pair.value.value) : ''
    if (!optionKeys.includes(key) || !['true', 'false'].includes(value))
      return broken(
        document.place(pair.key),
        `the option ${JSON.stringify(key)} is not known or not true or false`,
      )
    if (key === 'no_parent_owners') noParentOwners = value === 'true'
  }
  return { kind: 'read', value: { noParentOwners } }
}

function readFilters(document: OwnerDocument, node: unknown): Read<OwnersFile['approvers']> {
  if (!isMap(node)) return broken(document.place(node), 'filters must be a mapping')
  const approvers: { matches: Filter; names: readonly string[] }[] = []
  for (const pair of node.items) {
    const pattern = isScalar(pair.key) ? String(pair.key.value) : ''
    const matches = parseFilter(pattern)
    if (matches === undefined)
      return broken(
        document.place(pair.key),
        `the filter ${JSON.stringify(pattern)} is more than literal text, .*, ^ and $`,
      )
    if (!isMap(pair.value)) return broken(document.place(pair.value), 'a filter holds lists of people')
    const entries = new Map(
      pair.value.items.map((item) => [isScalar(item.key) ? String(item.key.value) : '', item.value]),
    )
    const inner: OwnerDocument = {
      ...document,
      keys: [...entries.keys()],
      entry: (key) => (entries.has(key) ? { key, node: entries.get(key) as never } : undefined),
    }
    const stray = strayKey(inner, filterKeys)
    if (stray !== undefined) return stray
    const names = readNames(inner, 'approvers')
    if (names.kind === 'broken') return names
    approvers.push({ matches, names: names.value })
  }
  return { kind: 'read', value: approvers }
}
