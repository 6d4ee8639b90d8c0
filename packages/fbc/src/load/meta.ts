// opm's requirements of every document: no keys that differ only in case, and strings for the three common keys.
import { quoteLikeGo, sortByBytes, foldCase } from '../go/text.ts'
import { formatBlobJson, formatGoJson } from '../go/json/json-text.ts'
import { markJsonErrorPosition, formatJsonErrorWithMarker } from '../go/json/read-json.ts'
import { type MapEntry, type MapValue, type ParsedValue } from '../go/tree.ts'
import { getJsonTypeName, formatAsGoBool, formatGoValue } from '../go/decode/go-type.ts'
import { computeUtf8ByteLength } from '../go/utf8.ts'

export interface BlobMeta {
  readonly value: MapValue
  readonly schema: string
  readonly name: string
  readonly package: string
}

export type BlobMetaProblem =
  | {
      readonly kind: 'not-an-object'
      readonly message: string
      readonly at: ParsedValue
      readonly found: string
    }
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

/** Keys that cannot collide with each other: lowercase ASCII, and OLM's own fields instead of their lowercase forms. */
const distinctKeyPattern =
  /^(?:relatedImages|defaultChannel|(?!relatedimages$|defaultchannel$)[\x00-@[-\x7f]*)$/

/** opm shows the whole document, but a longer message does not help a reader. */
const maxQuotedDocumentLength = 1 << 20

/** `raw` is the original JSON, if any, which opm quotes. Ignores null, which Go decodes to an empty object. */
export function parseBlobMeta(
  value: ParsedValue,
  raw: string | undefined,
): { meta: BlobMeta } | { problems: BlobMetaProblem[] } {
  if (value.kind !== 'map') return { problems: [createNotAnObjectProblem(value, raw)] }
  const folding = value.entries.every((entry) => distinctKeyPattern.test(entry.key))
    ? undefined
    : indexKeysIgnoringCase(value.entries)
  const problems: BlobMetaProblem[] = []
  if (folding && folding.again.size > 0) {
    for (const [key, entries] of folding.again) {
      const spellings = sortByBytes(entries.map((entry) => entry.key))
      const message = `duplicate keys for key ${quoteLikeGo(key)}: [${spellings.join(' ')}]`
      problems.push({ kind: 'duplicate-field', message, at: entries[1] as MapEntry, spellings })
    }
    return { problems }
  }
  const texts = { schema: '', package: '', name: '' }
  for (const field of ['schema', 'package', 'name'] as const) {
    const entry = folding ? folding.first.get(field) : findMapEntryByKey(value.entries, field)
    if (!entry) continue
    if (entry.value.kind === 'string') texts[field] = entry.value.value
    else {
      const shown = `${formatAsGoBool(entry.value)}: ${formatGoValue(entry.value)}`
      const message = `expected value for key ${quoteLikeGo(entry.key)} to be a string, got ${shown}`
      problems.push({ kind: 'field-not-text', message, at: entry, found: getJsonTypeName(entry.value) })
    }
  }
  return problems.length > 0 ? { problems } : { meta: { value, ...texts } }
}

interface CaseInsensitiveKeyIndex {
  /** By folded key. */
  readonly first: ReadonlyMap<string, MapEntry>
  /** All entries of keys that occur in several spellings. */
  readonly again: ReadonlyMap<string, readonly MapEntry[]>
}

function indexKeysIgnoringCase(entries: readonly MapEntry[]): CaseInsensitiveKeyIndex {
  const first = new Map<string, MapEntry>()
  const again = new Map<string, MapEntry[]>()
  for (const entry of entries) {
    const key = foldCase(entry.key)
    const earlier = first.get(key)
    const others = again.get(key)
    if (earlier === undefined) first.set(key, entry)
    else if (others) others.push(entry)
    else again.set(key, [earlier, entry])
  }
  return { first, again }
}

function findMapEntryByKey(entries: readonly MapEntry[], key: string): MapEntry | undefined {
  for (const entry of entries) if (entry.key === key) return entry
  return undefined
}

function createNotAnObjectProblem(value: ParsedValue, raw: string | undefined): BlobMetaProblem {
  const json =
    raw?.slice(0, maxQuotedDocumentLength) ??
    formatGoJson(value, { escapeHtml: true, exactNumbers: true, maxLength: maxQuotedDocumentLength })
  const found = getJsonTypeName(value)
  const offset = value.kind === 'list' ? 1 : computeUtf8ByteLength(json)
  const detail = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`
  const marked = markJsonErrorPosition(json, value.kind === 'list' ? 1 : json.length)
  return {
    kind: 'not-an-object',
    message: formatJsonErrorWithMarker(detail, offset, marked),
    at: value,
    found,
  }
}

/** Go reports several problems of one kind in one message. */
export function joinProblemMessages(problems: readonly BlobMetaProblem[]): string {
  const duplicates = problems.filter((problem) => problem.kind === 'duplicate-field')
  if (duplicates.length > 1) return `[${duplicates.map((problem) => problem.message).join(', ')}]`
  return problems[0]?.message ?? ''
}

/** `value` is undefined for an empty document. */
export function formatMissingSchemaError(value: ParsedValue | undefined): string {
  return `object '${value ? `${formatBlobJson(value)}\n` : ''}' is missing root schema field`
}
