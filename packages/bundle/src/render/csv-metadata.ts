// The `olm.csv.metadata` property, which is the part of a ClusterServiceVersion that catalogs store. Contains only
// fields of the operator API; values of the wrong type are omitted.
import { type Json, getJsonFieldValuesIgnoringCase, toPlainJson } from '@catalog-bot/fbc/go/json/json'
import {
  type GoType,
  type StructType,
  type DecodedStruct,
  type DecodedValue,
  getJsonTypeName,
} from '@catalog-bot/fbc/go/decode/go-type'
import { getMapValue, type ParsedValue, getStringByKey } from '@catalog-bot/fbc/go/tree'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { decodeGoStruct } from '@catalog-bot/fbc/go/decode/decode'
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import { parseManifest } from '@catalog-bot/fbc/load/property-types'
import type {
  CatalogReadResult,
  WritableBundle,
  WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import { csvStructType } from '../csv-type.ts'
import { isListType } from '../kubernetes/coerce-to-schema.ts'
import { csvMetadataFields, parseSchemaFields, type SchemaType } from '../kubernetes/schemas.ts'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  type JsonObject,
  getObjectAtPath,
  getListAtPath,
} from '../fields.ts'

/** The values of opm's `--migrate-level`. */
export type MigrateLevel = 'none' | 'bundle-object-to-csv-metadata'

interface GoStructJsonResult {
  readonly json: JsonObject
  /** encoding/json's first error. The value that it concerns is missing from `json`. */
  readonly problem?: string
}

export interface CsvMetadataResult {
  readonly metadata: JsonObject
  /** opm's error if it can't generate the property. */
  readonly problem?: string
}

/** The property's value for a ClusterServiceVersion (the whole document), without unreadable parts. */
export function parseCsvMetadata(tree: ParsedValue): CsvMetadataResult {
  const { json, problem } = decodeGoStructToJson(csvStructType, tree)
  // Go stops immediately at an error in a type with a custom decoder. It reports other errors at the end.
  const found = findCsvVersionProblem(getMapValue(tree, 'spec')) ?? problem
  return { metadata: toCsvMetadata(json), ...(found !== undefined && { problem: found }) }
}

/** The error in release or version. Null counts as an empty string. */
function findCsvVersionProblem(spec: ParsedValue | undefined): string | undefined {
  for (const field of ['release', 'version'] as const) {
    const value = getMapValue(spec, field)
    if (!value) continue
    if (value.kind !== 'string' && value.kind !== 'null')
      return `json: cannot unmarshal ${getJsonTypeName(value)} into Go struct field ClusterServiceVersionSpec.spec.${field} of type string`
    const text = value.kind === 'string' ? value.value : ''
    const parsed =
      field === 'version'
        ? [parseVersionTolerantly(text)]
        : text.split('.').map((part) => parsePrereleaseIdentifier(part))
    for (const part of parsed) if (!part.ok) return part.error
  }
  return undefined
}

function toCsvMetadata(csv: Json): JsonObject {
  const { annotations, labels } = getObjectAtPath(csv, 'metadata')
  const spec = getObjectAtPath(csv, 'spec')
  const { apiservicedefinitions: apiServiceDefinitions, customresourcedefinitions: crdDescriptions } = spec
  const values = { ...spec, annotations, labels, apiServiceDefinitions, crdDescriptions }
  return pickSchemaFields(csvMetadataFields, values)
}

/** As Go writes them: required fields always, others unless empty. A value of another type counts as empty. */
function pickSchemaFields(
  fields: Readonly<Record<string, SchemaType>>,
  value: Readonly<Record<string, Json | undefined>>,
): JsonObject {
  const picked = [...parseSchemaFields(fields)].map(([name, { type, isRequired }]) => {
    const field = pickValue(type, value[name])
    const isEmpty = field === undefined || (type !== ':any' && isEmptyInGo(field))
    return isRequired || !isEmpty ? { [name]: field } : {}
  })
  return Object.assign({}, ...picked) as JsonObject
}

function pickValue(type: SchemaType, value: Json | undefined): Json | undefined {
  if (type === ':string') return asStringOrEmpty(value)
  if (type === ':boolean') return value === true
  if (type === ':int32') return typeof value === 'number' ? value : 0
  if (typeof type === 'string') return value
  if ('fields' in type) return pickSchemaFields(type.fields, asObjectOrEmpty(value))
  if (isListType(type) && type[0] !== ':string')
    return asListOrEmpty(value).map((item) => pickValue(type[0], item) ?? null)
  if (isListType(type)) return asListOrEmpty(value).filter((item) => typeof item === 'string')
  return Object.fromEntries(
    Object.entries(asObjectOrEmpty(value)).filter(([, item]) => typeof item === 'string'),
  )
}

function isEmptyInGo(value: Json): boolean {
  return value === '' || value === 0 || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
}

/** Fields that are absent in `value` are also absent in the result. Never throws. */
function decodeGoStructToJson(type: StructType, value: ParsedValue): GoStructJsonResult {
  const { decoded, problems } = decodeGoStruct(type, value)
  const [first] = problems
  return { json: decodedStructToJson(type, decoded), ...(first && { problem: first.message }) }
}

function decodedStructToJson(type: StructType, { fields, sources }: DecodedStruct): JsonObject {
  return Object.fromEntries(
    Object.entries(type.fields).flatMap(([name, fieldType]) => {
      if (!fields.has(name)) return []
      const json = decodedValueToJson(fieldType, fields.get(name), sources.get(name))
      return json === undefined ? [] : [[name, json]]
    }),
  )
}

function decodedValueToJson(
  type: GoType,
  value: DecodedValue,
  source: ParsedValue | undefined,
): Json | undefined {
  switch (type.kind) {
    case 'raw':
      return source && toPlainJson(source)
    case 'map':
      return stringMapToJson(source)
    case 'struct':
      return typeof value === 'object' && 'fields' in value ? decodedStructToJson(type, value) : undefined
    case 'slice':
      return Array.isArray(value)
        ? value.map((item, index) => decodedListItemToJson(type.element, item, source, index))
        : undefined
    case 'string':
    case 'bool':
    case 'int':
    case 'bytes':
      return typeof value === 'object' ? undefined : value
  }
}

function decodedListItemToJson(
  type: GoType,
  item: DecodedValue,
  source: ParsedValue | undefined,
  index: number,
): Json {
  const own = source?.kind === 'list' ? source.items[index] : undefined
  const json = decodedValueToJson(type, item, own)
  if (json !== undefined) return json
  return type.kind === 'struct' ? {} : type.kind === 'string' ? '' : null
}

/** Supports only maps of strings. Null becomes an empty string; other types were already reported. */
function stringMapToJson(source: ParsedValue | undefined): Json | undefined {
  if (source?.kind !== 'map') return undefined
  return Object.fromEntries(
    source.entries.flatMap(({ key, value }) =>
      value.kind === 'string' ? [[key, value.value]] : value.kind === 'null' ? [[key, '']] : [],
    ),
  )
}

// opm's `--migrate-level bundle-object-to-csv-metadata` for a whole catalog. Replaces the manifests in a bundle's blob
// with the ClusterServiceVersion metadata that catalogs show.

/** The catalog at a level. Fails with opm's message for the first unreadable ClusterServiceVersion. */
export function migrateCatalog(
  catalog: WritableCatalog,
  level: MigrateLevel,
): CatalogReadResult<WritableCatalog> {
  if (level === 'none') return { ok: true, value: catalog }
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.bundles) {
    const migrated = migrateBundle(bundle)
    if (!migrated.ok) return migrated
    bundles.push(migrated.value)
  }
  return { ok: true, value: { ...catalog, bundles } }
}

/** Leaves a bundle unchanged if it has no image, no manifests, or already has metadata. */
function migrateBundle(bundle: WritableBundle): CatalogReadResult<WritableBundle> {
  const properties = bundle.properties ?? []
  const isMigrated = properties.some(({ type }) => type === 'olm.csv.metadata')
  const csv = bundle.image === '' || isMigrated ? undefined : findCsvInBundleProperties(properties)
  if (!csv) return { ok: true, value: bundle }
  const { metadata, problem } = parseCsvMetadata(csv)
  if (problem !== undefined) return { ok: false, error: `migrate: ${problem}` }
  const remainingProperties = properties.filter(({ type }) => type !== 'olm.bundle.object')
  return {
    ok: true,
    value: { ...bundle, properties: [...remainingProperties, { type: 'olm.csv.metadata', value: metadata }] },
  }
}

function findCsvInBundleProperties(properties: readonly { readonly type: string; readonly value: Json }[]) {
  for (const { type, value } of properties) {
    const object = type === 'olm.bundle.object' ? parseBundleObjectProperty(value) : undefined
    if (getStringByKey(object, 'kind') === 'ClusterServiceVersion') return object
  }
  return undefined
}

/** The object in the property. opm skips unreadable objects. */
function parseBundleObjectProperty(value: Json): ParsedValue | undefined {
  const data = getJsonFieldValuesIgnoringCase(value, 'data').at(-1)
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined
  const manifest = bytes instanceof Uint8Array ? parseManifest(bytes) : undefined
  return typeof manifest === 'object' ? manifest.value : undefined
}

// The parts of a ClusterServiceVersion that catalog templates use. The semver template derives a package's description
// and icon from them, and the substitutes template checks whether a bundle substitutes for another one.

/** The document reduced to these parts, with the same structure. */
export function pickCsvFieldsForTemplates(csv: Json): Json {
  const substitutes = getJsonFieldAtPath(csv, 'metadata', 'annotations', 'olm.substitutesFor')
  const description = getJsonFieldAtPath(csv, 'spec', 'description')
  return {
    metadata: { annotations: substitutes === undefined ? {} : { 'olm.substitutesFor': substitutes } },
    spec: {
      ...(description !== undefined && { description }),
      // Only the first icon is shown.
      icon: getListAtPath(csv, 'spec', 'icon').slice(0, 1),
    },
  }
}
