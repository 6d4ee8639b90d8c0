// Catalogs as writable data: complete blobs as opm stores them. OLM blobs keep their known fields in order and lose
// unknown fields. Other blobs keep everything. Used for rendering, where facts are not enough.
import { encodeBase64 } from '../go/base64.ts'
import type { Json } from '../go/json/json.ts'
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField,
  getDecodedStringList,
  getDecodedStructField,
  getDecodedStringFields,
} from '../go/decode/decode.ts'
import type { DecodedStruct } from '../go/decode/go-type.ts'
import {
  bundleStructType,
  channelStructType,
  deprecationStructType,
  packageStructType,
} from '../load/blob-types.ts'
import { formatBundleObjectError, parseBundleObject } from '../load/property-types.ts'
import { splitDocuments } from '../load/split-documents.ts'
import { formatMissingSchemaError, type BlobMeta } from '../load/meta.ts'
import { compareBytes } from '../go/text.ts'
import type { ParsedValue } from '../go/tree.ts'

/** A JSON object. JSON output writes its keys in their order. */
export type JsonObject = { readonly [key: string]: Json }

export interface WritableProperty {
  readonly type: string
  readonly value: Json
}

export interface WritablePackage {
  readonly schema: string
  readonly name: string
  readonly defaultChannel: string
  /** `base64data` is null if the blob has none, as opm writes it. */
  readonly icon?: { readonly base64data: string | null; readonly mediatype: string }
  readonly description?: string
  readonly properties?: readonly WritableProperty[]
}

export interface WritableChannelEntry {
  readonly name: string
  readonly replaces?: string
  readonly skips?: readonly string[]
  readonly skipRange?: string
}

export interface WritableChannel {
  readonly schema: string
  readonly name: string
  readonly package: string
  /** Null if the blob has none, as opm writes it. */
  readonly entries: readonly WritableChannelEntry[] | null
  readonly properties?: readonly WritableProperty[]
}

export interface WritableBundle {
  readonly schema: string
  readonly name?: string
  readonly package?: string
  readonly image: string
  readonly properties?: readonly WritableProperty[]
  readonly relatedImages?: readonly { readonly name: string; readonly image: string }[]
}

export interface WritableDeprecation {
  readonly schema: string
  readonly package: string
  readonly entries:
    | readonly {
        readonly reference: { readonly schema: string; readonly name?: string }
        readonly message: string
      }[]
    | null
}

export interface WritableCustomSchemaBlob {
  readonly schema: string
  readonly package: string
  readonly value: JsonObject
}

/** All blobs by kind, each list in load order. */
export interface WritableCatalog {
  readonly packages: readonly WritablePackage[]
  readonly channels: readonly WritableChannel[]
  readonly bundles: readonly WritableBundle[]
  readonly deprecations: readonly WritableDeprecation[]
  readonly others: readonly WritableCustomSchemaBlob[]
}

export type CatalogReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  /** opm's error. */
  | { readonly ok: false; readonly error: string }

/** The depth and size limits for rendering a blob. Aliases can expand a short document without limit. */
const maxRenderedBlobDepth = 500
const maxRenderedBlobValues = 5_000_000
const catalogTooLargeMessage = 'the catalog has too many values, or they are nested too deeply'

/** Reads files' bytes (in walk order) as `opm render` does. Fails with the first load error. */
export function parseWritableCatalog(files: Iterable<Uint8Array>): CatalogReadResult<WritableCatalog> {
  const metas: BlobMeta[] = []
  for (const bytes of files)
    for (const { meta, problem } of splitDocuments(bytes)) {
      if (problem) return { ok: false, error: problem.message }
      if (meta) metas.push(meta)
    }
  return toWritableCatalog(metas)
}

export function toWritableCatalog(metas: Iterable<BlobMeta>): CatalogReadResult<WritableCatalog> {
  const catalog = {
    packages: [] as WritablePackage[],
    channels: [] as WritableChannel[],
    bundles: [] as WritableBundle[],
    deprecations: [] as WritableDeprecation[],
    others: [] as WritableCustomSchemaBlob[],
  }
  const budget = { left: maxRenderedBlobValues }
  for (const meta of metas) {
    const error = addWritableBlob(meta, catalog, budget)
    if (error !== undefined) return { ok: false, error }
    if (budget.left <= 0) return { ok: false, error: catalogTooLargeMessage }
  }
  return { ok: true, value: catalog }
}

interface JsonValueBudget {
  left: number
}

type MutableCatalog = { -readonly [Kind in keyof WritableCatalog]: WritableCatalog[Kind][number][] }

/** Returns opm's error for a blob that it cannot read. */
function addWritableBlob(meta: BlobMeta, into: MutableCatalog, budget: JsonValueBudget): string | undefined {
  const { value, schema, package: of } = meta
  switch (schema) {
    case 'olm.package':
      return addWritablePackage(value, into, budget)
    case 'olm.channel':
      return addWritableChannel(value, into, budget)
    case 'olm.bundle':
      return addWritableBundle(value, into, budget)
    case 'olm.deprecations':
      return addWritableDeprecation(value, into)
    case '':
      return formatMissingSchemaError(value)
    default:
      into.others.push({
        schema,
        package: of,
        value: convertValueToJsonWithinBudget(value, 0, budget) as JsonObject,
      })
      return undefined
  }
}

function addWritablePackage(value: ParsedValue, into: MutableCatalog, budget: JsonValueBudget) {
  const { decoded, problems } = decodeGoStruct(packageStructType, value)
  const icon = getDecodedStructField(decoded, 'icon')
  into.packages.push({
    schema: 'olm.package',
    ...getDecodedStringFields(decoded, 'name', 'defaultChannel'),
    ...(icon && { icon: toWritableIcon(icon) }),
    ...pickNonEmptyStringField(decoded, 'description'),
    ...toWritableProperties(decoded, budget),
  })
  return problems[0] && `parse package: ${problems[0].message}`
}

/** Encodes the data again, without line breaks. */
export function toWritableIcon(icon: DecodedStruct): NonNullable<WritablePackage['icon']> {
  const data = icon.fields.get('base64data')
  return {
    base64data: data instanceof Uint8Array ? encodeBase64(data) : null,
    mediatype: getDecodedStringField(icon, 'mediatype'),
  }
}

function addWritableChannel(value: ParsedValue, into: MutableCatalog, budget: JsonValueBudget) {
  const { decoded, problems } = decodeGoStruct(channelStructType, value)
  into.channels.push({
    schema: 'olm.channel',
    ...getDecodedStringFields(decoded, 'name', 'package'),
    entries: convertBlobEntries(decoded, (entry) => {
      const skips = getDecodedStringList(entry, 'skips')
      return {
        name: getDecodedStringField(entry, 'name'),
        ...pickNonEmptyStringField(entry, 'replaces'),
        ...(skips.length > 0 && { skips }),
        ...pickNonEmptyStringField(entry, 'skipRange'),
      }
    }),
    ...toWritableProperties(decoded, budget),
  })
  return problems[0] && `parse channel: ${problems[0].message}`
}

function addWritableBundle(value: ParsedValue, into: MutableCatalog, budget: JsonValueBudget) {
  const { decoded, problems } = decodeGoStruct(bundleStructType, value)
  const related = getDecodedStructList(decoded, 'relatedImages')
  into.bundles.push({
    schema: 'olm.bundle',
    ...pickNonEmptyStringField(decoded, 'name'),
    ...pickNonEmptyStringField(decoded, 'package'),
    image: getDecodedStringField(decoded, 'image'),
    ...toWritableProperties(decoded, budget),
    ...(related.length > 0 && {
      relatedImages: related.map((image) => getDecodedStringFields(image, 'name', 'image')),
    }),
  })
  return problems[0] ? `parse bundle: ${problems[0].message}` : findBundleObjectProblem(decoded)
}

function addWritableDeprecation(value: ParsedValue, into: MutableCatalog): string | undefined {
  const { decoded, problems } = decodeGoStruct(deprecationStructType, value)
  into.deprecations.push({
    schema: 'olm.deprecations',
    package: getDecodedStringField(decoded, 'package'),
    entries: convertBlobEntries(decoded, (entry) => {
      const reference = getDecodedStructField(entry, 'reference')
      return {
        reference: reference
          ? {
              schema: getDecodedStringField(reference, 'schema'),
              ...pickNonEmptyStringField(reference, 'name'),
            }
          : { schema: '' },
        message: getDecodedStringField(entry, 'message'),
      }
    }),
  })
  return problems[0] && `parse deprecation: ${problems[0].message}`
}

/** Null if the blob has no list of entries, as opm writes it. */
function convertBlobEntries<Entry>(decoded: DecodedStruct, convert: (entry: DecodedStruct) => Entry) {
  return Array.isArray(decoded.fields.get('entries'))
    ? getDecodedStructList(decoded, 'entries').map(convert)
    : null
}

/** The problem with the first olm.bundle.object that opm cannot read. */
function findBundleObjectProblem(bundle: DecodedStruct): string | undefined {
  const names = getDecodedStringFields(bundle, 'name', 'package')
  let previous: (() => Uint8Array) | undefined
  for (const [index, property] of getDecodedStructList(bundle, 'properties').entries()) {
    if (getDecodedStringField(property, 'type') !== 'olm.bundle.object') continue
    const { problem, data } = parseBundleObject(property.sources.get('value'), previous)
    if (problem !== undefined) return formatBundleObjectError(names, index, problem)
    previous = data
  }
  return undefined
}

/** Omits empty fields. */
function pickNonEmptyStringField<Name extends string>(decoded: DecodedStruct, name: Name) {
  const found = getDecodedStringField(decoded, name)
  return (found === '' ? {} : { [name]: found }) as { [_ in Name]?: string }
}

function toWritableProperties(decoded: DecodedStruct, budget: JsonValueBudget) {
  const list = getDecodedStructList(decoded, 'properties')
  if (list.length === 0) return {}
  return {
    properties: list.map((property) => {
      const value = property.sources.get('value')
      return {
        type: getDecodedStringField(property, 'type'),
        value: value ? convertValueToJsonWithinBudget(value, 0, budget) : null,
      }
    }),
  }
}

/** Returns a value as plain data with keys sorted by bytes. Fails if the value is too large or nested too deeply. */
export function toJsonWithSizeLimit(value: ParsedValue): CatalogReadResult<Json> {
  const budget = { left: maxRenderedBlobValues }
  const json = convertValueToJsonWithinBudget(value, 0, budget)
  if (budget.left > 0) return { ok: true, value: json }
  return { ok: false, error: catalogTooLargeMessage }
}

/** The value with keys sorted by bytes, as opm stores it. Parts become null when the budget is exhausted. */
function convertValueToJsonWithinBudget(value: ParsedValue, depth: number, budget: JsonValueBudget): Json {
  if (depth > maxRenderedBlobDepth) budget.left = 0
  if (budget.left-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
    case 'string':
      return value.value
    case 'list':
      return value.items.map((item) => convertValueToJsonWithinBudget(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        [...value.entries]
          .sort((a, b) => compareBytes(a.key, b.key))
          .map((entry) => [entry.key, convertValueToJsonWithinBudget(entry.value, depth + 1, budget)]),
      )
  }
}
