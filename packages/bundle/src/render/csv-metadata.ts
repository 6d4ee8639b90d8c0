// The `olm.csv.metadata` property, which is the part of a ClusterServiceVersion that catalogs store. Contains only
// fields of the operator API; values of the wrong type are omitted.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonTypeName } from '@catalog-bot/fbc/go/decode/go-value'
import { getMapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { decodeGoStruct } from '@catalog-bot/fbc/go/decode/decode'
import type { DecodedStruct, DecodedValue } from '@catalog-bot/fbc/go/decode/decoded'
import type { GoType, StructType } from '@catalog-bot/fbc/go/decode/go-type'
import { toPlainJson } from '@catalog-bot/fbc/go/json/plain-json'
import { csvType } from '../csv-type.ts'
import { getField, asList, asObject, asString, type JsonObject } from '../fields.ts'

interface DecodedJsonResult {
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
  const { json, problem } = decodeToJson(csvType, tree)
  // Go stops immediately at an error in a type with a custom decoder. It reports other errors at the end.
  const found = findVersionProblem(getMapValue(tree, 'spec')) ?? problem
  return { metadata: toCsvMetadata(json), ...(found !== undefined && { problem: found }) }
}

/** The error in release or version. Null counts as an empty string. */
function findVersionProblem(spec: ParsedValue | undefined): string | undefined {
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
  const spec = asObject(getField(csv, 'spec'))
  return {
    ...toNonEmptyField('annotations', filterStringMap(getField(csv, 'metadata', 'annotations'))),
    // These two and the provider are always written, even if empty.
    apiServiceDefinitions: toOwnedAndRequiredDescriptions(
      spec['apiservicedefinitions'],
      toApiServiceDescription,
    ),
    crdDescriptions: toOwnedAndRequiredDescriptions(spec['customresourcedefinitions'], toCrdDescription),
    ...pickNonEmptyStringFields(spec, 'description', 'displayName'),
    ...toNonEmptyField('installModes', asList(spec['installModes']).map(toInstallMode)),
    ...toNonEmptyField('keywords', filterStrings(spec['keywords'])),
    ...toNonEmptyField('labels', filterStringMap(getField(csv, 'metadata', 'labels'))),
    ...toNonEmptyField(
      'links',
      asList(spec['links']).map((link) => pickNonEmptyStringFields(asObject(link), 'name', 'url')),
    ),
    ...toNonEmptyField(
      'maintainers',
      asList(spec['maintainers']).map((person) =>
        pickNonEmptyStringFields(asObject(person), 'name', 'email'),
      ),
    ),
    ...pickNonEmptyStringFields(spec, 'maturity', 'minKubeVersion'),
    ...toNonEmptyField(
      'nativeAPIs',
      asList(spec['nativeAPIs']).map((api) => pickStringFields(asObject(api), 'group', 'version', 'kind')),
    ),
    provider: pickNonEmptyStringFields(asObject(spec['provider']), 'name', 'url'),
  }
}

function toOwnedAndRequiredDescriptions(
  value: Json | undefined,
  describe: (entry: JsonObject) => JsonObject,
): JsonObject {
  const definitions = asObject(value)
  return {
    ...toNonEmptyField(
      'owned',
      asList(definitions['owned']).map((entry) => describe(asObject(entry))),
    ),
    ...toNonEmptyField(
      'required',
      asList(definitions['required']).map((entry) => describe(asObject(entry))),
    ),
  }
}

function toCrdDescription(entry: JsonObject): JsonObject {
  return { ...pickStringFields(entry, 'name', 'version', 'kind'), ...toDescriptionFields(entry) }
}

function toApiServiceDescription(entry: JsonObject): JsonObject {
  const port = entry['containerPort']
  return {
    ...pickStringFields(entry, 'name', 'group', 'version', 'kind'),
    ...pickNonEmptyStringFields(entry, 'deploymentName'),
    ...(typeof port === 'number' && port !== 0 && { containerPort: port }),
    ...toDescriptionFields(entry),
  }
}

function toDescriptionFields(entry: JsonObject): JsonObject {
  return {
    ...pickNonEmptyStringFields(entry, 'displayName', 'description'),
    ...toNonEmptyField(
      'resources',
      asList(entry['resources']).map((resource) =>
        pickStringFields(asObject(resource), 'name', 'kind', 'version'),
      ),
    ),
    ...toNonEmptyField('statusDescriptors', asList(entry['statusDescriptors']).map(toDescriptor)),
    ...toNonEmptyField('specDescriptors', asList(entry['specDescriptors']).map(toDescriptor)),
    ...toNonEmptyField('actionDescriptors', asList(entry['actionDescriptors']).map(toDescriptor)),
  }
}

function toDescriptor(value: Json): JsonObject {
  const entry = asObject(value)
  return {
    ...pickStringFields(entry, 'path'),
    ...pickNonEmptyStringFields(entry, 'displayName', 'description'),
    ...toNonEmptyField('x-descriptors', filterStrings(entry['x-descriptors'])),
    ...(entry['value'] !== undefined && { value: entry['value'] }),
  }
}

function toInstallMode(value: Json): JsonObject {
  return { type: asString(getField(value, 'type')), supported: getField(value, 'supported') === true }
}

function pickStringFields(entry: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, asString(entry[key])]))
}

function pickNonEmptyStringFields(entry: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.map((key) => [key, asString(entry[key])] as const).filter(([, text]) => text !== ''),
  )
}

function filterStrings(value: Json | undefined): readonly string[] {
  return asList(value).filter((entry) => typeof entry === 'string')
}

function filterStringMap(value: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(asObject(value)).filter(([, entry]) => typeof entry === 'string'))
}

/** The field, unless its value is an empty list or an empty map. */
function toNonEmptyField(key: string, value: readonly Json[] | JsonObject): JsonObject {
  const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
  return isEmpty ? {} : { [key]: value }
}

/** Fields that are absent in `value` are also absent in the result. Never throws. */
function decodeToJson(type: StructType, value: ParsedValue): DecodedJsonResult {
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
        ? value.map((item, index) => listItemToJson(type.element, item, source, index))
        : undefined
    case 'string':
    case 'bool':
    case 'int':
    case 'bytes':
      return typeof value === 'object' ? undefined : value
  }
}

function listItemToJson(
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
