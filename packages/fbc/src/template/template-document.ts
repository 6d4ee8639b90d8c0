// Parses the text of a template of any type to its document, which is one object with a schema. A template is not a
// blob: keys can have several spellings, and the last one wins, as in encoding/json.
import { sortMapEntriesByKey } from '../go/json/json-text.ts'
import { readJson } from '../go/json/read-json.ts'
import { decodeGoStruct, getDecodedStringField, type DecodeResult } from '../go/decode/decode.ts'
import { splitDocuments, formatNumberOverflowError } from '../load/split-documents.ts'
import {
  createSliceType,
  createStructType,
  findStructFieldName,
  stringType,
  type StructType,
} from '../go/decode/go-type.ts'
import { joinProblemMessages, parseBlobMeta, type BlobMeta } from '../load/meta.ts'
import type { ParsedValue } from '../go/tree.ts'
import { type CatalogReadResult, toJsonWithSizeLimit, type JsonObject } from '../write/writable-catalog.ts'
import { bundleStructType } from '../load/blob-types.ts'
import { marshalIndentLikeGo } from '../write/format-json.ts'
import { formatYaml } from '../write/format-yaml.ts'
import { type Json, isJsonObject } from '../go/json/json.ts'

export interface TemplateTextStyle {
  /** The number of columns from a list's key to its items. */
  readonly listOffset: number
  /** The text between a dash and its item. */
  readonly gap: string
  /** The quoting style per key, in the YAML library's terms. */
  readonly quotes?: ReadonlyMap<string, string>
}

// Formats new parts of a template as YAML or JSON like the surrounding text.
export const templateTextFormatters = {
  item: formatBlockListItem,
  pairs: formatBlockMapping,
  flow: formatFlowValue,
  flowPair: formatFlowMappingEntry,
  json: formatMultilineJson,
}

/** Why opm rejects a template, in opm's words. `renderTemplate` and `getTemplateImages` return it. */
export class TemplateError extends Error {}

export function failTemplate(error: string): never {
  throw new TemplateError(error)
}

/** The value of a result. Otherwise throws a TemplateError with `before` and the error. */
export function requireTemplateValue<Value>(
  result: { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string },
  before = '',
): Value {
  return result.ok ? result.value : failTemplate(before + result.error)
}

/** Adds a prefix to the errors of a step. */
export function prefixTemplateErrors<Result>(before: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    if (error instanceof TemplateError) failTemplate(before + error.message)
    throw error
  }
}

export type TemplateConversionKind = 'basic' | 'substitutes'

export interface TemplateDocument {
  readonly schema: string
  readonly value: ParsedValue
  /** The text of the document if it is JSON. */
  readonly json: string | undefined
  /** The whole template. */
  readonly bytes: Uint8Array
}

const schemaStructFields = { schema: stringType }
const schemaDetectionStructType = createStructType(
  'struct { Schema string "json:\\"schema\\"" }',
  schemaStructFields,
)

/** The field that contains a template's blobs. */
export const templateEntriesType = createSliceType({ kind: 'raw', name: '*declcfg.Meta' })

/** Reads the first document of a template. Like opm, ignores later documents. */
export function parseTemplateDocument(bytes: Uint8Array): CatalogReadResult<TemplateDocument> {
  for (const { value, json, problem } of splitDocuments(bytes, { asValues: true })) {
    if (!value)
      return createTemplateTypeDetectionError(`decoding template input: ${problem?.message ?? 'no document'}`)
    // Go produces empty JSON if the YAML is null.
    if (value.kind === 'null')
      return createTemplateTypeDetectionError('unmarshalling template schema: unexpected end of JSON input')
    const { decoded, problems } = decodeTemplateStruct(schemaDetectionStructType, { value, json })
    if (problems[0])
      return createTemplateTypeDetectionError(`unmarshalling template schema: ${problems[0].message}`)
    const schema = getDecodedStringField(decoded, 'schema')
    if (schema === '')
      return createTemplateTypeDetectionError("template input missing required 'schema' field")
    return { ok: true, value: { schema, value, json, bytes } }
  }
  return createTemplateTypeDetectionError('decoding template input: EOF')
}

function createTemplateTypeDetectionError(error: string): { ok: false; error: string } {
  return { ok: false, error: `auto-detecting template type: ${error}` }
}

/** Decodes a template to a Go type. JSON is decoded as written. YAML is first converted to JSON with sorted keys. */
function decodeTemplateStruct(type: StructType, { value, json }: Pick<TemplateDocument, 'value' | 'json'>) {
  return decodeGoStruct(type, value, { inTextOrder: json !== undefined })
}

/**
 * Decodes a template with blobs in its `entries`. As in opm, a problem with a blob takes precedence over all others.
 */
export function decodeTemplateAndBlobs(
  type: StructType,
  template: TemplateDocument,
): CatalogReadResult<DecodeResult['decoded'] & { readonly blobs: readonly BlobMeta[] }> {
  const { value } = template
  const { decoded, problems } = decodeTemplateStruct(type, template)
  const used = decoded.fields.get('entries')
  let blobs: readonly BlobMeta[] = []
  const fields = value.kind === 'map' ? value.entries : []
  for (const entry of template.json === undefined ? sortMapEntriesByKey(fields) : fields) {
    if (entry.value.kind !== 'list' || findStructFieldName(type, entry.key) !== 'entries') continue
    const read = parseTemplateEntries(entry.value.items, template.json)
    if (!read.ok) return read
    // If there are several lists, the last one wins, but problems in the others are also reported.
    if (entry.value === decoded.sources.get('entries')) blobs = read.value
  }
  if (problems[0]) return { ok: false, error: `unmarshalling template: ${problems[0].message}` }
  const read = { at: decoded.at, fields: decoded.fields, sources: decoded.sources }
  return { ok: true, value: { ...read, blobs: Array.isArray(used) ? blobs : [] } }
}

function parseTemplateEntries(
  items: readonly ParsedValue[],
  json: string | undefined,
): CatalogReadResult<BlobMeta[]> {
  const blobFailure = (error: string) => ({ ok: false as const, error: `unmarshalling template: ${error}` })
  const metas: BlobMeta[] = []
  for (const [index, item] of items.entries()) {
    // opm crashes here.
    if (item.kind === 'null') return blobFailure(`entries[${index}] is null`)
    const raw = json?.slice(item.start, item.end)
    const huge = raw === undefined ? undefined : readJson(raw, 0).hugeNumber
    if (raw !== undefined && huge)
      return blobFailure(
        formatNumberOverflowError(raw, huge, (unit) => new TextEncoder().encode(raw.slice(0, unit)).length)
          .message,
      )
    const read = parseBlobMeta(item, raw)
    if ('problems' in read) return blobFailure(joinProblemMessages(read.problems))
    metas.push(read.meta)
  }
  return { ok: true, value: metas }
}

// Converts a catalog file to a template, as `opm alpha convert-template` does.

/** Returns opm's output byte for byte, or opm's error. Never throws. */
export function convertToTemplate(
  kind: TemplateConversionKind,
  bytes: Uint8Array,
  output: 'json' | 'yaml',
): CatalogReadResult<string> {
  const entries: JsonObject[] = []
  for (const { meta, problem } of splitDocuments(bytes)) {
    // opm accepts a document without a schema here, although it cannot render a template that contains one.
    if (problem) return { ok: false, error: problem.message }
    if (!meta) continue
    if (kind === 'basic' && meta.schema === 'olm.bundle') {
      const { decoded, problems } = decodeGoStruct(bundleStructType, meta.value)
      if (problems[0]) return { ok: false, error: `parse bundle: ${problems[0].message}` }
      entries.push({ schema: meta.schema, image: getDecodedStringField(decoded, 'image') })
    } else {
      const value = toJsonWithSizeLimit(meta.value)
      if (!value.ok) return value
      entries.push(value.value as JsonObject)
    }
  }
  const template: JsonObject = {
    schema: `olm.template.${kind}`,
    entries: entries.length === 0 ? null : entries,
    ...(kind === 'substitutes' && { substitutions: [] }),
  }
  // opm adds an extra line break at the end of YAML.
  return {
    ok: true,
    value: output === 'json' ? `${marshalIndentLikeGo(template)}\n` : `---\n${formatYaml(template)}\n`,
  }
}

/** An item of a block list, without the last line feed. */
function formatBlockListItem(value: Json, column: number, style: TemplateTextStyle): string {
  const dash = `${' '.repeat(column)}-${style.gap}`
  if (!isJsonObject(value)) return dash + formatTemplateScalar(value)
  const inner = column + 1 + style.gap.length
  return dash + formatBlockMapping(value, inner, style).slice(inner)
}

/** Keys of a block mapping, without the last line feed. */
function formatBlockMapping(
  value: Readonly<Record<string, Json>>,
  column: number,
  style: TemplateTextStyle,
): string {
  const indent = ' '.repeat(column)
  return Object.entries(value)
    .map(([key, its]) => {
      const name = `${indent}${formatTemplateScalar(key)}:`
      if (Array.isArray(its)) {
        const items = its as readonly Json[]
        if (items.length === 0) return `${name} []`
        return [name, ...items.map((one) => formatBlockListItem(one, column + style.listOffset, style))].join(
          '\n',
        )
      }
      if (isJsonObject(its)) return `${name}\n${formatBlockMapping(its, column + 2, style)}`
      return `${name} ${formatTemplateScalar(its, style.quotes?.get(key))}`
    })
    .join('\n')
}

function formatFlowValue(value: Json, isJson = false): string {
  if (isJson) return formatSingleLineJson(value)
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((one) => formatFlowValue(one)).join(', ')}]`
  if (isJsonObject(value))
    return `{${Object.entries(value)
      .map(([key, its]) => formatFlowMappingEntry(key, its, false))
      .join(', ')}}`
  // In flow style, commas and brackets end a plain scalar.
  const text = formatTemplateScalar(value)
  return /[,[\]{}]/.test(text) && !/^['"]/.test(text) ? JSON.stringify(value) : text
}

function formatFlowMappingEntry(key: string, value: Json, isJson: boolean): string {
  return isJson
    ? `${JSON.stringify(key)}: ${formatSingleLineJson(value)}`
    : `${formatTemplateScalar(key)}: ${formatFlowValue(value)}`
}

/** Multiline JSON. The caller has already indented the first line. */
function formatMultilineJson(value: Json, outer: number, step: number): string {
  return JSON.stringify(value, undefined, step).replaceAll('\n', `\n${' '.repeat(outer)}`)
}

function formatSingleLineJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(formatSingleLineJson).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, its]) => `${JSON.stringify(key)}: ${formatSingleLineJson(its)}`)
    .join(', ')} }`
}

/** On one line, in opm's style unless `quoted` gives the neighbor's. */
function formatTemplateScalar(value: Json, quoted?: string): string {
  if (typeof value === 'string') {
    if (quoted === 'QUOTE_DOUBLE') return JSON.stringify(value)
    if (quoted === 'QUOTE_SINGLE' && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`
  }
  const text = formatYaml(value).trimEnd()
  return text.includes('\n') ? JSON.stringify(value) : text
}

// Compares values regardless of key order.
export function areJsonValuesEqual(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    const [one, other] = [a as readonly Json[], b as readonly Json[]]
    return one.length === other.length && one.every((item, at) => areJsonValuesEqual(item, other[at] ?? null))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && areJsonValuesEqual(a[key] ?? null, b[key] ?? null))
  )
}
