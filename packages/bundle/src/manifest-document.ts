// Reads the first document of a manifest as Kubernetes does. A document that starts with a brace is JSON, and any
// other document is YAML. Only counts later documents, because opm and OLM v0 ignore them.
import { type Json, toPlainJson } from '@catalog-bot/fbc/go/json/json'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import { formatGoJson } from '@catalog-bot/fbc/go/json/json-text'
import { readJson, skipJsonWhitespace } from '@catalog-bot/fbc/go/json/read-json'
import { formatJsonNumber } from '@catalog-bot/fbc/go/number'
import { decodeYaml, splitYamlChunks, trimLeadingSpace } from '@catalog-bot/fbc/go/yaml/encoding'
import { getMapValue, replaceMapEntries, replaceListItems, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { readYaml } from '@catalog-bot/fbc/go/yaml/read-yaml'
import { FastYamlReader, type FastParsedYamlDocument } from '@catalog-bot/fbc/go/fast/regular-yaml'
import { createFieldPathLocator, createTreeFieldPathLocator } from '@catalog-bot/fbc/positions/locate-path'
import type { Location } from '@catalog-bot/findings/finding'

export type FieldPath = readonly (string | number)[]

export type BundleFieldLocator = (file: string, path?: FieldPath) => Location

// Reads a manifest that is a single regular YAML document with the fast reader. Cached for all callers.

/** Undefined if the exact reader is needed, for example for JSON. Offsets are bytes of the file. */
export const tryParseYamlManifestFast = memoizePerObject(
  (bytes: Uint8Array): FastParsedYamlDocument | undefined => {
    const document = new FastYamlReader(bytes).read(0)
    // Only the exact reader knows which of several documents is the first.
    return document?.end === bytes.length ? document : undefined
  },
)

export type ManifestDocument =
  | {
      readonly kind: 'value'
      readonly value: ParsedValue
      readonly documents: number
      /** The text that offsets refer to. Only for JSON, which Go stores unchanged. */
      readonly json?: string
    }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** `documents` counts non-empty documents. Cached per file, because reading is most of the work. */
export const readManifest = memoizePerObject((bytes: Uint8Array): ManifestDocument => {
  const regular = tryParseYamlManifestFast(bytes)
  if (regular) return { kind: 'value', value: regular.tree, documents: 1 }
  const text = decodeUtf8LikeGo(bytes)
  if (trimLeadingSpace(text).startsWith('{')) return parseJsonManifest(text)
  const chunks = [...splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo)].map(({ start, end }) =>
    bytes.subarray(start, end),
  )
  const [first, ...others] = chunks
  if (first === undefined) return { kind: 'unreadable', reason: 'the file is empty' }
  const result = readYaml(decodeYaml(first))
  if (!result.ok) return { kind: 'unreadable', reason: result.error.message }
  if (result.value === undefined) return { kind: 'unreadable', reason: 'the first document is empty' }
  const more = others.filter((chunk) => {
    const other = readYaml(decodeYaml(chunk))
    return !other.ok || (other.value !== undefined && other.value.kind !== 'null')
  })
  return { kind: 'value', value: result.value, documents: 1 + more.length }
})

/** Problems by line in later documents, for formats that use every document. */
export function findExtraYamlDocumentProblems(
  bytes: Uint8Array,
): readonly { readonly line: number; readonly reason: string }[] {
  if (trimLeadingSpace(decodeUtf8LikeGo(bytes)).startsWith('{')) return []
  const [, ...later] = splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo)
  return later.flatMap(({ start, end, line }) => {
    const result = readYaml(decodeYaml(bytes.subarray(start, end)))
    if (!result.ok) return [{ line: line + 1, reason: result.error.message }]
    if (result.value === undefined || result.value.kind === 'null') return []
    const kind = getMapValue(result.value, 'kind')
    return kind?.kind === 'string' && kind.value !== ''
      ? []
      : [{ line: line + 1, reason: 'a document has no kind' }]
  })
}

function parseJsonManifest(text: string): ManifestDocument {
  try {
    const { value, end } = readJson(text, 0)
    return {
      kind: 'value',
      value,
      documents: skipJsonWhitespace(text, end) < text.length ? 2 : 1,
      json: text,
    }
  } catch (error) {
    return { kind: 'unreadable', reason: (error as Error).message }
  }
}

/** Compact JSON with sorted keys, as Go writes untyped objects; 64-bit integers stay exact. */
export function formatUntypedObjectAsGoJson(value: ParsedValue): string {
  return formatGoJson(normalizeNumbersLikeGo(value), { escapeHtml: true, exactNumbers: true })
}

/** Like formatUntypedObjectAsGoJson, but keeps every number unchanged. */
export function formatGoJsonWithRawNumbers(value: ParsedValue): string {
  return formatGoJson(value, { escapeHtml: true, exactNumbers: true })
}

export function convertParsedValueToJson(value: ParsedValue | undefined): Json | undefined {
  return value === undefined ? undefined : toPlainJson(value)
}

// Deeper than any manifest. Documents are untrusted.
const maxManifestDepth = 500

function normalizeNumbersLikeGo(value: ParsedValue, depth = 0): ParsedValue {
  if (value.kind === 'number') return { ...value, text: formatNumberLikeGo(value.text, value.value) }
  if (depth > maxManifestDepth) return value
  if (value.kind === 'list')
    return replaceListItems(
      value,
      value.items.map((item) => normalizeNumbersLikeGo(item, depth + 1)),
    )
  if (value.kind === 'map')
    return replaceMapEntries(
      value,
      value.entries.map((entry) => ({ ...entry, value: normalizeNumbersLikeGo(entry.value, depth + 1) })),
    )
  return value
}

function formatNumberLikeGo(text: string, value: number): string {
  if (/^-?\d{1,19}$/.test(text)) {
    const exact = BigInt(text)
    if (exact === BigInt.asIntN(64, exact)) return exact.toString()
  }
  return formatJsonNumber(value)
}

// Finds the location of a field path in a file's first document.

/** Reads each file lazily and at most once. An empty path means the start of the file. */
export function createBundleFieldLocator(files: ReadonlyMap<string, Uint8Array>): BundleFieldLocator {
  const locators = new Map<string, (path: FieldPath) => Omit<Location, 'file'>>()
  return (file, path = []) => {
    const bytes = files.get(file)
    if (path.length === 0 || !bytes) return { file, line: 1, column: 1 }
    return { file, ...getOrCreate(locators, file, () => createFileFieldLocator(bytes))(path) }
  }
}

function createFileFieldLocator(bytes: Uint8Array): (path: FieldPath) => Omit<Location, 'file'> {
  const regular = tryParseYamlManifestFast(bytes)
  if (regular) return createTreeFieldPathLocator(regular.tree, regular.lines.positions(1))
  if (trimLeadingSpace(decodeUtf8LikeGo(bytes.subarray(0, 4096))).startsWith('{'))
    return createFieldPathLocator(bytes, 0, bytes.length)
  for (const { start, end } of splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo))
    return createFieldPathLocator(bytes, start, end)
  return createFieldPathLocator(bytes, 0, bytes.length)
}
