// Parses owner sources. A source with an error does not grant authority, because a partially parsed list could omit a
// line that revokes permissions.
import { memoizeLastResult } from '@catalog-bot/findings/memoize'
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

/** `operators/<directory>/ci.yaml`: a package's reviewers and switches of its release pipeline. Ignores other keys. */
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

/** Thrown by the parsers of a file's content. parseOwnerFile() makes it the file's problem. */
class OwnerFileError extends Error {
  readonly at: Location
  constructor(at: Location, problem: string) {
    super(problem)
    this.at = at
  }
}

export function rejectOwnerFile(at: Location, problem: string): never {
  throw new OwnerFileError(at, problem)
}

/** Parses an owner file with `read`. The first problem makes the file invalid. */
export function parseOwnerFile<T>(
  file: string,
  text: string,
  read: (document: OwnerYamlDocument) => T,
): OwnerSourceReadResult<T> {
  try {
    return { kind: 'read', value: read(parseOwnerYaml(file, text)) }
  } catch (error) {
    if (error instanceof OwnerFileError) return createBrokenOwnerSourceResult(error.at, error.message)
    throw error
  }
}

/** The top-level mapping of an owner file, with locations. Keys are unique. */
export interface OwnerYamlDocument {
  /** Undefined if the mapping does not have the key. */
  node(key: string): Node | null | undefined
  keys(): readonly string[]
  locate(node: unknown): Location
}

// Bytes. The largest real owner file is under 4 KiB.
const maxOwnerFileBytes = 256 * 1024

/**
 * Accepts one document: a mapping or nothing, without duplicate keys, aliases, or tags. Scalars remain strings
 * (`failsafe`), so that a login such as `0x10` or `null` is kept.
 */
function parseOwnerYaml(file: string, text: string): OwnerYamlDocument {
  const start: Location = { file, line: 1, column: 1 }
  rejectUnreadableOwnerFileText(start, text)
  const {
    document,
    locate: locateOffset,
    problem: syntaxProblem,
  } = parseYamlDocument(file, text, { schema: 'failsafe' })
  const locate = (node: unknown): Location => {
    const offset = (node as { range?: [number, number, number] } | null)?.range?.[0]
    return offset === undefined ? start : locateOffset(offset)
  }
  if (syntaxProblem !== undefined) rejectOwnerFile(syntaxProblem.at, syntaxProblem.problem)
  const entries = new Map<string, Node | null>()
  const mapping = { keys: () => [...entries.keys()], node: (key: string) => entries.get(key), locate }
  if (document === undefined) return mapping
  const [warning] = document.warnings
  if (warning !== undefined)
    rejectOwnerFile(locateOffset(warning.pos[0]), 'the file has a tag or a directive')
  // YAML versions differ: 1.1 does not parse `no` as a string.
  if (document.directives?.yaml.explicit === true) rejectOwnerFile(start, 'the file has a %YAML directive')
  const root = document.contents
  if (isEmptyYamlNode(root)) return mapping
  const problem = findAmbiguousYamlNode(document)
  if (problem !== undefined) rejectOwnerFile(locate(problem.node), problem.says)
  if (!isMap(root)) return rejectOwnerFile(locate(root), 'the document must be a mapping')
  for (const pair of root.items) {
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string')
      return rejectOwnerFile(locate(pair.key), 'the keys must be plain strings')
    entries.set(pair.key.value, pair.value)
  }
  return mapping
}

const isEmptyYamlNode = (node: Node | null): boolean =>
  node === null || (isScalar(node) && (node.value === null || node.value === ''))

function rejectUnreadableOwnerFileText(start: Location, text: string): void {
  if (text.length > maxOwnerFileBytes)
    rejectOwnerFile(start, `the file is larger than ${maxOwnerFileBytes / 1024} KiB`)
  const divided = findAmbiguousLineBreak(text)
  if (divided === undefined) return
  const { name, ...position } = divided
  rejectOwnerFile(
    { file: start.file, ...position },
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
function readYamlStringListField(document: OwnerYamlDocument, key: string) {
  // Go's JSON reader, which most readers of these files use, ignores the case of keys.
  const alike = document
    .keys()
    .find(
      (other) => other !== key && normalizeYamlKeyForComparison(other) === normalizeYamlKeyForComparison(key),
    )
  if (alike !== undefined)
    rejectOwnerFile(
      document.locate(document.node(alike)),
      `the key ${JSON.stringify(alike)} could be mistaken for ${key}`,
    )
  return readYamlStringList(document, document.node(key) ?? null, key)
}

/** Like readYamlStringListField, for a given node. `key` is its name in messages. */
export function readYamlStringList(
  document: OwnerYamlDocument,
  node: Node | null,
  key: string,
): readonly { readonly text: string; readonly at: Location }[] {
  if (isEmptyYamlNode(node)) return []
  if (!isSeq(node)) return rejectOwnerFile(document.locate(node), `${key} must be a list`)
  return node.items.map((item) => {
    if (!isScalar(item) || typeof item.value !== 'string' || item.value === '')
      return rejectOwnerFile(document.locate(item), `${key} must contain plain names`)
    if (item.type === 'PLAIN' && ambiguousYamlScalarPattern.test(item.value))
      rejectOwnerFile(
        document.locate(item),
        `${key} contains ${item.value}, which is a string only if it is quoted`,
      )
    return { text: item.value, at: document.locate(item) }
  })
}

/** A list of logins. One invalid entry makes the list invalid. */
export function readPrincipalList(
  document: OwnerYamlDocument,
  key: string,
  parse: (text: string) => Principal | undefined = parseUserPrincipal,
): readonly Principal[] {
  return readYamlStringListField(document, key).map(
    ({ text, at }) =>
      parse(text) ?? rejectOwnerFile(at, `${key} contains ${JSON.stringify(text)}, which is not a login`),
  )
}

export function rejectUnknownOwnerFileKeys(document: OwnerYamlDocument, known: readonly string[]): void {
  const stray = document.keys().find((key) => !known.includes(key))
  if (stray !== undefined)
    rejectOwnerFile(document.locate(document.node(stray)), `the key ${JSON.stringify(stray)} is unknown`)
}

/** Two lists of logins or `organization/team` names. Any other key makes the file invalid. */
export function parseCatalogOwners(file: string, text: string): OwnerSourceReadResult<readonly Principal[]> {
  return parseOwnerFile(file, text, (document) => {
    rejectUnknownOwnerFileKeys(document, catalogOwnersFileKeys)
    readPrincipalList(document, 'reviewers', parsePrincipal)
    return readPrincipalList(document, 'approvers', parsePrincipal)
  })
}

/** Reviewers are logins; this format has no teams or addresses. */
export function parseOwnershipCiYaml(file: string, text: string): OwnerSourceReadResult<OwnershipCiYaml> {
  return parseOwnerFile(file, text, (document) => {
    const reviewers = readPrincipalList(document, 'reviewers')
    const switches = new Map<string, string>()
    for (const key of ciYamlKeysAffectingRules) {
      const node = document.node(key)
      if (node !== undefined) switches.set(key, isScalar(node) ? String(node.value) : 'not a plain value')
    }
    return { reviewers, switches }
  })
}

/** `config.yaml` at the root lists the maintainers. Ignores other tools' keys. Cached, because few changes edit it. */
export const parseMaintainers = (file: string, text: string) => parseMaintainersFile({ file, text })
const parseMaintainersFile = memoizeLastResult(
  ['file', 'text'],
  ({ file, text }: Readonly<Record<'file' | 'text', string>>) =>
    parseOwnerFile(file, text, (document) => readPrincipalList(document, 'maintainers')),
)
