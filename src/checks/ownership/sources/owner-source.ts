// Parses owner sources. A source with any error gives no authority: a half-read list of owners could let squatters in.
import type { Location } from '../../../findings/finding.ts'
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml'
import { repeatedKey } from '../../../config/repeated-key.ts'
import type { Node } from 'yaml'
import { findDividing, findUnseen, foldedKey } from '../../../config/odd-characters.ts'
import { parseLogin } from '../principal.ts'
import type { Principal } from '../principal.ts'

export interface SourceProblem {
  readonly at: Location
  /** For people, without a full stop: `reviewers must be a list of logins`. */
  readonly problem: string
}

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'broken'; readonly problems: readonly [SourceProblem, ...SourceProblem[]] }

export const broken = (at: Location, problem: string): Read<never> => ({
  kind: 'broken',
  problems: [{ at, problem }],
})

/** The top-level mapping of an owner file, with places. Keys are unique. */
export interface OwnerDocument {
  readonly file: string
  entry(key: string): { readonly key: string; readonly node: Node | null } | undefined
  readonly keys: readonly string[]
  place(node: unknown): Location
}

// Bytes. The largest real owner file is under 4 KiB.
const largest = 256 * 1024

/**
 * Accepts one document: a mapping or nothing, without duplicate keys, aliases or tags. Scalars stay text (`failsafe`),
 * so that a login such as `0x10` or `null` is kept.
 */
export function readOwnerYaml(file: string, text: string): Read<OwnerDocument> {
  const start: Location = { file, line: 1, column: 1 }
  if (text.length > largest) return broken(start, `it is larger than ${largest / 1024} KiB`)
  const divided = findDividing(text)
  if (divided !== undefined) {
    const before = text.slice(0, divided.offset).split('\n')
    const at = { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    return broken(at, `it holds ${divided.name}, where readers may end a line or the text`)
  }
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    schema: 'failsafe',
    // The library's check is quadratic: it compares each key with all before it, and cuts the whole text for each
    // error.
    uniqueKeys: false,
    prettyErrors: false,
    strict: true,
  })
  const place = (node: unknown): Location => {
    const offset = (node as { range?: [number, number, number] } | null)?.range?.[0]
    if (offset === undefined) return start
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const list = Array.isArray(documents) ? documents : []
  if (list.length > 1) return broken(start, 'it holds more than one document')
  const document = list[0]
  if (document === undefined)
    return { kind: 'read', value: { file, keys: [], entry: () => undefined, place } }
  const error = document.errors[0] ?? document.warnings[0]
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0])
    return broken(
      { file, line: Math.max(line, 1), column: Math.max(col, 1) },
      error.message.split('\n')[0] ?? 'it is not YAML',
    )
  }
  // Other YAML versions read differently: 1.1 does not take `no` as text.
  if (document.directives?.yaml.explicit === true) return broken(start, 'it has a %YAML line')
  const root = document.contents
  if (root === null || (isScalar(root) && (root.value === null || root.value === '')))
    return { kind: 'read', value: { file, keys: [], entry: () => undefined, place } }
  // Aliases are easy to misread, and tags change a value's type.
  let odd: unknown
  let unseen: unknown
  visit(document, {
    Alias: (_, node) => {
      odd = node
      return visit.BREAK
    },
    Value: (key, node) => {
      if (node.tag !== undefined || node.anchor !== undefined) odd = node
      else if (key === 'key' && isScalar(node) && findUnseen(String(node.value)) !== undefined) unseen = node
      return odd === undefined && unseen === undefined ? undefined : visit.BREAK
    },
  })
  if (odd !== undefined) return broken(place(odd), 'it uses an alias, an anchor or a tag')
  if (unseen !== undefined) return broken(place(unseen), 'the name of a key holds something that nobody sees')
  const repeated = repeatedKey(document)
  if (repeated !== undefined) return broken(place(repeated), 'Map keys must be unique')
  if (!isMap(root)) return broken(place(root), 'it must be a mapping')
  const entries = new Map<string, Node | null>()
  for (const pair of root.items) {
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string')
      return broken(place(pair.key), 'its keys must be plain text')
    entries.set(pair.key.value, pair.value)
  }
  return {
    kind: 'read',
    value: {
      file,
      keys: [...entries.keys()],
      entry: (key) => {
        const node = entries.get(key)
        return node === undefined ? undefined : { key, node }
      },
      place,
    },
  }
}

/** Unquoted scalars that YAML 1.1 or 1.2 does not read as text: null, booleans, numbers, dates. */
const notAlwaysText =
  /^(?:~|null|true|false|yes|no|on|off|y|n|[-+]?(?:0x[0-9a-f_]+|0[bo][0-7_]+|[0-9][0-9_]*(?:e[-+]?[0-9]+)?)|\d{4}-\d{1,2}-\d{1,2})$/i

/** The texts of a list at a key; empty if absent. A single text instead of a list is an error. */
export function readTexts(
  document: OwnerDocument,
  key: string,
): Read<readonly { text: string; at: Location }[]> {
  // Go's JSON reader, which most readers of these files use, ignores the case of keys.
  const alike = document.keys.find((other) => other !== key && foldedKey(other) === foldedKey(key))
  if (alike !== undefined)
    return broken(
      document.place(document.entry(alike)?.node),
      `the key ${JSON.stringify(alike)} may be taken for ${key}`,
    )
  const entry = document.entry(key)
  if (entry === undefined) return { kind: 'read', value: [] }
  return textsOf(document, entry.node, key)
}

/** Like readTexts, for a given node; `key` is its name in messages. */
export function textsOf(
  document: OwnerDocument,
  node: Node | null,
  key: string,
): Read<readonly { text: string; at: Location }[]> {
  if (node === null || (isScalar(node) && (node.value === null || node.value === '')))
    return { kind: 'read', value: [] }
  if (!isSeq(node)) return broken(document.place(node), `${key} must be a list`)
  const texts: { text: string; at: Location }[] = []
  for (const item of node.items) {
    if (!isScalar(item) || typeof item.value !== 'string' || item.value === '')
      return broken(document.place(item), `${key} must hold plain names`)
    if (item.type === 'PLAIN' && notAlwaysText.test(item.value))
      return broken(document.place(item), `${key} holds ${item.value}, which is text only between quotes`)
    texts.push({ text: item.value, at: document.place(item) })
  }
  return { kind: 'read', value: texts }
}

/** A list of logins; one bad entry breaks the list. */
export function readPeople(
  document: OwnerDocument,
  key: string,
  parse: (text: string) => Principal | undefined = parseLogin,
): Read<readonly Principal[]> {
  const texts = readTexts(document, key)
  if (texts.kind === 'broken') return texts
  const people: Principal[] = []
  for (const { text, at } of texts.value) {
    const principal = parse(text)
    if (principal === undefined)
      return broken(at, `${key} holds ${JSON.stringify(text)}, which is not a login`)
    people.push(principal)
  }
  return { kind: 'read', value: people }
}
