// What opm demands of every document, whatever its schema: an object, no two spellings of a key, and texts where the
// format's own three keys stand.
import { quote, sortedByBytes } from '../../go/text.ts'
import { blobText, jsonText } from '../../go/json/json-text.ts'
import { markedJson, withMark } from '../../go/json/marked-json.ts'
import { KeyTable } from '../../go/key-table.ts'
import type { MapEntry, MapValue, Value } from '../../go/tree.ts'
import { foldCase } from '../../go/fold-case.ts'
import { goKind, mistakenBoolGo, plainGo } from '../../go/decode/go-value.ts'

export interface Meta {
  readonly value: MapValue
  readonly schema: string
  readonly name: string
  readonly package: string
}

export type MetaProblem =
  | { readonly kind: 'not-an-object'; readonly message: string; readonly at: Value; readonly found: string }
  | {
      readonly kind: 'duplicate-field'
      readonly message: string
      readonly at: MapEntry
      readonly spellings: readonly string[]
    }
  | {
      readonly kind: 'field-not-text'
      readonly message: string
      readonly at: MapEntry
      readonly found: string
    }

/** opm shows all of it; a message of more than this is of use to nobody. */
const maxShown = 1 << 20

/**
 * Looks at a document's value. `raw` is its JSON as it was written, where it was: opm shows that in its message.
 * Null is not looked at: Go leaves the object as it was, empty.
 */
export function readMeta(
  value: Value,
  raw: string | undefined,
): { meta: Meta } | { problems: MetaProblem[] } {
  if (value.kind !== 'map') return { problems: [notAnObject(value, raw)] }
  // Keys that are their own folding differ from each other already; in a large document nearly all are.
  const folding = value.entries.every((entry) => isFolded(entry.key)) ? undefined : foldKeys(value.entries)
  const problems: MetaProblem[] = []
  if (folding && folding.again.size > 0) {
    for (const [key, entries] of folding.again) {
      const spellings = sortedByBytes(entries.map((entry) => entry.key))
      const message = `duplicate keys for key ${quote(key)}: [${spellings.join(' ')}]`
      problems.push({ kind: 'duplicate-field', message, at: entries[1] as MapEntry, spellings })
    }
    return { problems }
  }
  const texts = { schema: '', package: '', name: '' }
  for (const field of ['schema', 'package', 'name'] as const) {
    const entry = folding ? folding.first(field) : entryOf(value.entries, field)
    if (!entry) continue
    if (entry.value.kind === 'string') texts[field] = entry.value.value
    else {
      const shown = `${mistakenBoolGo(entry.value)}: ${plainGo(entry.value)}`
      const message = `expected value for key ${quote(entry.key)} to be a string, got ${shown}`
      problems.push({ kind: 'field-not-text', message, at: entry, found: goKind(entry.value) })
    }
  }
  return problems.length > 0 ? { problems } : { meta: { value, ...texts } }
}

interface Folding {
  /** The first entry of each key, by its folding. */
  first(key: string): MapEntry | undefined
  /** All entries of the keys that are written in several ways. */
  readonly again: ReadonlyMap<string, readonly MapEntry[]>
}

function foldKeys(entries: readonly MapEntry[]): Folding {
  const keys = new KeyTable()
  const first: MapEntry[] = []
  const again = new Map<string, MapEntry[]>()
  for (const entry of entries) {
    const key = foldCase(entry.key)
    const place = keys.add(key)
    const others = again.get(key)
    if (place < 0) first.push(entry)
    else if (others) others.push(entry)
    else again.set(key, [first[place] as MapEntry, entry])
  }
  return { first: (key) => first[keys.add(key)], again }
}

function entryOf(entries: readonly MapEntry[], key: string): MapEntry | undefined {
  for (const entry of entries) if (entry.key === key) return entry
  return undefined
}

function isFolded(key: string): boolean {
  return /^[\x00-@[-\x7f]*$/.test(key)
}

function notAnObject(value: Value, raw: string | undefined): MetaProblem {
  const json =
    raw?.slice(0, maxShown) ?? jsonText(value, { escapeHtml: true, exactNumbers: true, maxLength: maxShown })
  const found = goKind(value)
  const offset = value.kind === 'list' ? 1 : byteLength(json)
  const detail = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`
  const marked = markedJson(json, value.kind === 'list' ? 1 : json.length)
  return { kind: 'not-an-object', message: withMark(detail, offset, marked), at: value, found }
}

/** Several complaints of one kind are one message to Go. */
export function joinedMessage(problems: readonly MetaProblem[]): string {
  const duplicates = problems.filter((problem) => problem.kind === 'duplicate-field')
  if (duplicates.length > 1) return `[${duplicates.map((problem) => problem.message).join(', ')}]`
  return problems[0]?.message ?? ''
}

/** The document has no schema. `value` is undefined for an empty document. */
export function missingSchema(value: Value | undefined): string {
  return `object '${value ? `${blobText(value)}\n` : ''}' is missing root schema field`
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
