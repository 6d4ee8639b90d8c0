// Catalogs as data to be written: blobs with all they say, as opm keeps them (known fields of OLM blobs in their
// order, unknown ones dropped; everything of other blobs). Read for rendering, where facts are not enough.
import type { Json } from '../../go/json/json.ts'
import { decode, structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { bundleType, channelType, deprecationType, packageType } from '../load/blob-types.ts'
import { bundleObjectError, readBundleObject } from '../load/bundle-object.ts'
import { documentsOf } from '../load/documents.ts'
import { missingSchema, type Meta } from '../load/meta.ts'
import { compareBytes } from '../../go/text.ts'
import type { Value } from '../../go/tree.ts'

/** A JSON object; the order of its keys is the order in which JSON output writes them. */
export type JsonObject = { readonly [key: string]: Json }

export interface WritableProperty {
  readonly type: string
  readonly value: Json
}

export interface WritablePackage {
  readonly schema: string
  readonly name: string
  readonly defaultChannel: string
  /** `base64data` is null where the blob has none: opm writes it so. */
  readonly icon?: { readonly base64data: string | null; readonly mediatype: string }
  readonly description?: string
  readonly properties?: readonly WritableProperty[]
}

export interface WritableEntry {
  readonly name: string
  readonly replaces?: string
  readonly skips?: readonly string[]
  readonly skipRange?: string
}

export interface WritableChannel {
  readonly schema: string
  readonly name: string
  readonly package: string
  /** Null where the blob has none: opm writes it so. */
  readonly entries: readonly WritableEntry[] | null
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

export interface WritableOther {
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
  readonly others: readonly WritableOther[]
}

export type ReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  /** opm's error. */
  | { readonly ok: false; readonly error: string }

/** Depth and size beyond which a blob is not rendered: aliases can make a short text into an endless one. */
const deepest = 500
const mostValues = 5_000_000
const tooMany = 'the catalog has too many values, or they are nested too deep'

/** Reads files' bytes (in walk order) as `opm render` does. Fails with the first load error. */
export function readWritable(files: Iterable<Uint8Array>): ReadResult<WritableCatalog> {
  const metas: Meta[] = []
  for (const bytes of files)
    for (const { meta, problem } of documentsOf(bytes)) {
      if (problem) return { ok: false, error: problem.message }
      if (meta) metas.push(meta)
    }
  return readMetas(metas)
}

export function readMetas(metas: Iterable<Meta>): ReadResult<WritableCatalog> {
  const catalog = {
    packages: [] as WritablePackage[],
    channels: [] as WritableChannel[],
    bundles: [] as WritableBundle[],
    deprecations: [] as WritableDeprecation[],
    others: [] as WritableOther[],
  }
  const budget = { left: mostValues }
  for (const meta of metas) {
    const error = readBlob(meta, catalog, budget)
    if (error !== undefined) return { ok: false, error }
    if (budget.left <= 0) return { ok: false, error: tooMany }
  }
  return { ok: true, value: catalog }
}

interface Budget {
  left: number
}

type Mutable = { -readonly [Kind in keyof WritableCatalog]: WritableCatalog[Kind][number][] }

function readBlob({ value, schema, package: of }: Meta, into: Mutable, budget: Budget): string | undefined {
  switch (schema) {
    case 'olm.package': {
      const { decoded, problems } = decode(packageType, value)
      const icon = structOf(decoded, 'icon')
      into.packages.push({
        schema,
        name: textOf(decoded, 'name'),
        defaultChannel: textOf(decoded, 'defaultChannel'),
        ...(icon && {
          icon: { base64data: base64(icon.fields.get('base64data')), mediatype: textOf(icon, 'mediatype') },
        }),
        ...text(decoded, 'description'),
        ...properties(decoded, budget),
      })
      return problems[0] && `parse package: ${problems[0].message}`
    }
    case 'olm.channel': {
      const { decoded, problems } = decode(channelType, value)
      into.channels.push({
        schema,
        name: textOf(decoded, 'name'),
        package: textOf(decoded, 'package'),
        entries: Array.isArray(decoded.fields.get('entries'))
          ? structsOf(decoded, 'entries').map((entry) => {
              const skips = textsOf(entry, 'skips')
              return {
                name: textOf(entry, 'name'),
                ...text(entry, 'replaces'),
                ...(skips.length > 0 && { skips }),
                ...text(entry, 'skipRange'),
              }
            })
          : null,
        ...properties(decoded, budget),
      })
      return problems[0] && `parse channel: ${problems[0].message}`
    }
    case 'olm.bundle': {
      const { decoded, problems } = decode(bundleType, value)
      const related = structsOf(decoded, 'relatedImages')
      into.bundles.push({
        schema,
        ...text(decoded, 'name'),
        ...text(decoded, 'package'),
        image: textOf(decoded, 'image'),
        ...properties(decoded, budget),
        ...(related.length > 0 && {
          relatedImages: related.map((image) => ({
            name: textOf(image, 'name'),
            image: textOf(image, 'image'),
          })),
        }),
      })
      return problems[0] ? `parse bundle: ${problems[0].message}` : objectProblem(decoded)
    }
    case 'olm.deprecations': {
      const { decoded, problems } = decode(deprecationType, value)
      into.deprecations.push({
        schema,
        package: textOf(decoded, 'package'),
        entries: Array.isArray(decoded.fields.get('entries'))
          ? structsOf(decoded, 'entries').map((entry) => {
              const reference = structOf(entry, 'reference')
              return {
                reference: reference
                  ? { schema: textOf(reference, 'schema'), ...text(reference, 'name') }
                  : { schema: '' },
                message: textOf(entry, 'message'),
              }
            })
          : null,
      })
      return problems[0] && `parse deprecation: ${problems[0].message}`
    }
    default:
      if (schema === '') return missingSchema(value)
      into.others.push({ schema, package: of, value: toJson(value, 0, budget) as JsonObject })
      return undefined
  }
}

/** What is wrong with the first olm.bundle.object that opm cannot read. */
function objectProblem(bundle: Decoded): string | undefined {
  const names = { name: textOf(bundle, 'name'), package: textOf(bundle, 'package') }
  let previous: (() => Uint8Array) | undefined
  for (const [index, property] of structsOf(bundle, 'properties').entries()) {
    if (textOf(property, 'type') !== 'olm.bundle.object') continue
    const { problem, data } = readBundleObject(property.sources.get('value'), previous)
    if (problem !== undefined) return bundleObjectError(names, index, problem)
    previous = data
  }
  return undefined
}

/** Omits empty fields. */
function text<Name extends string>(decoded: Decoded, name: Name): { [_ in Name]?: string } {
  const found = textOf(decoded, name)
  return (found === '' ? {} : { [name]: found }) as { [_ in Name]?: string }
}

function properties(decoded: Decoded, budget: Budget): { properties?: WritableProperty[] } {
  const list = structsOf(decoded, 'properties')
  if (list.length === 0) return {}
  return {
    properties: list.map((property) => {
      const value = property.sources.get('value')
      return { type: textOf(property, 'type'), value: value ? toJson(value, 0, budget) : null }
    }),
  }
}

function structOf(decoded: Decoded, field: string): Decoded | undefined {
  const value = decoded.fields.get(field)
  return typeof value === 'object' && 'fields' in value ? value : undefined
}

function base64(value: unknown): string | null {
  if (!(value instanceof Uint8Array)) return null
  let binary = ''
  for (let at = 0; at < value.length; at += 8192)
    binary += String.fromCharCode(...value.subarray(at, at + 8192))
  return btoa(binary)
}

/** A value as plain data, keys sorted by bytes; not for one that is too large or nested too deep. */
export function jsonOf(value: Value): ReadResult<Json> {
  const budget = { left: mostValues }
  const json = toJson(value, 0, budget)
  if (budget.left > 0) return { ok: true, value: json }
  return { ok: false, error: tooMany }
}

/** The value with keys sorted by bytes, as opm keeps it; undefined parts become null when the budget is spent. */
function toJson(value: Value, depth: number, budget: Budget): Json {
  if (depth > deepest) budget.left = 0
  if (budget.left-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
    case 'string':
      return value.value
    case 'list':
      return value.items.map((item) => toJson(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        [...value.entries]
          .sort((a, b) => compareBytes(a.key, b.key))
          .map((entry) => [entry.key, toJson(entry.value, depth + 1, budget)]),
      )
  }
}
