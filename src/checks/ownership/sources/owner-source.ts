// Parses owner sources. A source with an error does not grant authority, because a partially parsed list could omit a
// line that revokes permissions.
import type { Location } from '@catalog-bot/findings/finding'
import { isMap, isScalar, isSeq, visit, type Document, type Node, type Scalar } from 'yaml'
import {
  findAmbiguousLineBreak,
  findInvisibleCharacter,
  normalizeYamlKeyForComparison,
  parseYamlDocument,
} from '../../../config/text-problems.ts'
import { parseUserPrincipal, type Principal, parsePrincipal } from '../principals.ts'

export const configYamlPath = 'config.yaml'

/**
 * `operators/<directory>/ci.yaml`: a package's reviewers and its switches for the release pipeline. Ignores other
 * keys.
 */
interface OwnershipCiYaml {
  readonly reviewers: readonly Principal[]
  /** Values of keys that select rules elsewhere. Changing one needs the same approval as changing owners. */
  readonly switches: ReadonlyMap<string, string>
}

/** `merge` disables merging, `cert_project_id` selects a partner's rules. */
const ciYamlKeysAffectingRules = ['merge', 'cert_project_id'] as const

// Of a directory and everything below. Reviewers are parsed only to detect invalid lists.
const catalogOwnersFileKeys = ['approvers', 'reviewers']

export interface OwnerSourceProblem {
  readonly at: Location
  /** Readable text without a period: `reviewers must be a list of logins`. */
  readonly problem: string
}

export type OwnerSourceReadResult<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'broken'; readonly problems: readonly [OwnerSourceProblem, ...OwnerSourceProblem[]] }

export const createBrokenOwnerSourceResult = (
  at: Location,
  problem: string,
): OwnerSourceReadResult<never> => ({ kind: 'broken', problems: [{ at, problem }] })

/** Converts the value of a source that was read. */
export function mapOwnerSource<From, To>(
  source: OwnerSourceReadResult<From>,
  convert: (value: From) => To,
): OwnerSourceReadResult<To> {
  return source.kind === 'broken' ? source : { kind: 'read', value: convert(source.value) }
}

/** The top-level mapping of an owner file, with locations. Keys are unique. */
export interface OwnerYamlDocument {
  entry(key: string): { readonly key: string; readonly node: Node | null } | undefined
  readonly keys: readonly string[]
  locate(node: unknown): Location
}

// Bytes. The largest real owner file is under 4 KiB.
const maxOwnerFileBytes = 256 * 1024

/**
 * Accepts one document: a mapping or nothing, without duplicate keys, aliases, or tags. Scalars remain strings
 * (`failsafe`), so that a login such as `0x10` or `null` is kept.
 */
export function parseOwnerYaml(file: string, text: string): OwnerSourceReadResult<OwnerYamlDocument> {
  const start: Location = { file, line: 1, column: 1 }
  const unreadable = findOwnerFileTextProblem(file, text)
  if (unreadable !== undefined) return unreadable
  const {
    document,
    locate: locateOffset,
    problem: syntaxProblem,
  } = parseYamlDocument(file, text, { schema: 'failsafe' })
  const locate = (node: unknown): Location => {
    const offset = (node as { range?: [number, number, number] } | null)?.range?.[0]
    return offset === undefined ? start : locateOffset(offset)
  }
  if (syntaxProblem !== undefined)
    return createBrokenOwnerSourceResult(syntaxProblem.at, syntaxProblem.problem)
  if (document === undefined) return { kind: 'read', value: { keys: [], entry: () => undefined, locate } }
  const [warning] = document.warnings
  if (warning !== undefined)
    return createBrokenOwnerSourceResult(locateOffset(warning.pos[0]), 'the file has a tag or a directive')
  // YAML versions differ: 1.1 does not parse `no` as a string.
  if (document.directives?.yaml.explicit === true)
    return createBrokenOwnerSourceResult(start, 'the file has a %YAML directive')
  const root = document.contents
  if (root === null || (isScalar(root) && (root.value === null || root.value === '')))
    return { kind: 'read', value: { keys: [], entry: () => undefined, locate } }
  const problem = findAmbiguousYamlNode(document)
  if (problem !== undefined) return createBrokenOwnerSourceResult(locate(problem.node), problem.says)
  if (!isMap(root)) return createBrokenOwnerSourceResult(locate(root), 'the document must be a mapping')
  const entries = new Map<string, Node | null>()
  for (const pair of root.items) {
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string')
      return createBrokenOwnerSourceResult(locate(pair.key), 'the keys must be plain strings')
    entries.set(pair.key.value, pair.value)
  }
  return {
    kind: 'read',
    value: {
      keys: [...entries.keys()],
      entry: (key) => {
        const node = entries.get(key)
        return node === undefined ? undefined : { key, node }
      },
      locate,
    },
  }
}

function findOwnerFileTextProblem(file: string, text: string): OwnerSourceReadResult<never> | undefined {
  const start: Location = { file, line: 1, column: 1 }
  if (text.length > maxOwnerFileBytes)
    return createBrokenOwnerSourceResult(start, `the file is larger than ${maxOwnerFileBytes / 1024} KiB`)
  const divided = findAmbiguousLineBreak(text)
  if (divided === undefined) return undefined
  const { name, ...position } = divided
  return createBrokenOwnerSourceResult(
    { file, ...position },
    `the file contains ${name}, which some parsers treat as the end of a line or of the file`,
  )
}

/** Anchors are easy to misread, and tags change a value's type. */
function findAmbiguousYamlNode(
  document: Document.Parsed,
): { readonly node: unknown; readonly says: string } | undefined {
  let odd: unknown
  let unseen: Scalar | undefined
  visit(document, {
    Value: (key, node) => {
      if (node.tag !== undefined || node.anchor !== undefined) odd = node
      else if (key === 'key' && isScalar(node) && findInvisibleCharacter(String(node.value)) !== undefined)
        unseen = node
      return odd === undefined && unseen === undefined ? undefined : visit.BREAK
    },
  })
  if (odd !== undefined) return { node: odd, says: 'the file uses an anchor or a tag' }
  return unseen && { node: unseen, says: 'a key contains an invisible character' }
}

/** Unquoted scalars that YAML 1.1 or 1.2 does not parse as strings: null, booleans, numbers, dates. */
const ambiguousYamlScalarPattern =
  /^(?:~|null|true|false|yes|no|on|off|y|n|[-+]?(?:0x[0-9a-f_]+|0[bo][0-7_]+|[0-9][0-9_]*(?:e[-+]?[0-9]+)?)|\d{4}-\d{1,2}-\d{1,2})$/i

/** The strings of a list at a key; empty if absent. A single string instead of a list is an error. */
export function parseYamlStringListField(
  document: OwnerYamlDocument,
  key: string,
): OwnerSourceReadResult<readonly { text: string; at: Location }[]> {
  // Go's JSON reader, which most readers of these files use, ignores the case of keys.
  const alike = document.keys.find(
    (other) => other !== key && normalizeYamlKeyForComparison(other) === normalizeYamlKeyForComparison(key),
  )
  if (alike !== undefined)
    return createBrokenOwnerSourceResult(
      document.locate(document.entry(alike)?.node),
      `the key ${JSON.stringify(alike)} could be mistaken for ${key}`,
    )
  const entry = document.entry(key)
  if (entry === undefined) return { kind: 'read', value: [] }
  return parseYamlStringList(document, entry.node, key)
}

/** Like parseYamlStringListField, for a given node. `key` is its name in messages. */
export function parseYamlStringList(
  document: OwnerYamlDocument,
  node: Node | null,
  key: string,
): OwnerSourceReadResult<readonly { text: string; at: Location }[]> {
  if (node === null || (isScalar(node) && (node.value === null || node.value === '')))
    return { kind: 'read', value: [] }
  if (!isSeq(node)) return createBrokenOwnerSourceResult(document.locate(node), `${key} must be a list`)
  const strings: { text: string; at: Location }[] = []
  for (const item of node.items) {
    if (!isScalar(item) || typeof item.value !== 'string' || item.value === '')
      return createBrokenOwnerSourceResult(document.locate(item), `${key} must contain plain names`)
    if (item.type === 'PLAIN' && ambiguousYamlScalarPattern.test(item.value))
      return createBrokenOwnerSourceResult(
        document.locate(item),
        `${key} contains ${item.value}, which is a string only if it is quoted`,
      )
    strings.push({ text: item.value, at: document.locate(item) })
  }
  return { kind: 'read', value: strings }
}

/** A list of logins. One invalid entry makes the list invalid. */
export function parsePrincipalList(
  document: OwnerYamlDocument,
  key: string,
  parse: (text: string) => Principal | undefined = parseUserPrincipal,
): OwnerSourceReadResult<readonly Principal[]> {
  const strings = parseYamlStringListField(document, key)
  if (strings.kind === 'broken') return strings
  const people: Principal[] = []
  for (const { text, at } of strings.value) {
    const principal = parse(text)
    if (principal === undefined)
      return createBrokenOwnerSourceResult(
        at,
        `${key} contains ${JSON.stringify(text)}, which is not a login`,
      )
    people.push(principal)
  }
  return { kind: 'read', value: people }
}

export function findUnknownOwnerFileKey(document: OwnerYamlDocument, known: readonly string[]) {
  const stray = document.keys.find((key) => !known.includes(key))
  if (stray === undefined) return undefined
  const problem = `the key ${JSON.stringify(stray)} is unknown`
  return createBrokenOwnerSourceResult(document.locate(document.entry(stray)?.node), problem)
}

/** Two lists of logins or `organization/team` names. Any other key makes the file invalid. */
export function parseCatalogOwners(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  const document = parseOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const stray = findUnknownOwnerFileKey(document.value, catalogOwnersFileKeys)
  if (stray !== undefined) return stray
  const reviewers = parsePrincipalList(document.value, 'reviewers', parsePrincipal)
  if (reviewers.kind === 'broken') return reviewers
  return parsePrincipalList(document.value, 'approvers', parsePrincipal)
}

/** Reviewers are logins; this format has no teams or addresses. */
export function parseOwnershipCiYaml(file: string, text: string): OwnerSourceReadResult<OwnershipCiYaml> {
  const document = parseOwnerYaml(file, text)
  if (document.kind === 'broken') return document
  const reviewers = parsePrincipalList(document.value, 'reviewers')
  if (reviewers.kind === 'broken') return reviewers
  const switches = new Map<string, string>()
  for (const key of ciYamlKeysAffectingRules) {
    const node = document.value.entry(key)?.node
    if (node !== undefined) switches.set(key, isScalar(node) ? String(node.value) : 'not a plain value')
  }
  return { kind: 'read', value: { reviewers: reviewers.value, switches } }
}

/** `config.yaml` at the root lists the repository's maintainers. Ignores other tools' keys. */
export function parseMaintainers(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  const document = parseOwnerYaml(file, text)
  return document.kind === 'broken' ? document : parsePrincipalList(document.value, 'maintainers')
}
