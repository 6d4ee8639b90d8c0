// The `olm.csv.metadata` property: what catalogs keep of a ClusterServiceVersion. Only the fields that the operator
// API knows, in its shapes; what has the wrong type is left out, as if it were not there.
import type { Json } from '../../go/json/json.ts'
import { getGoKind } from '../../go/decode/go-value.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '../../catalog/versions/version.ts'
import { csvType } from '../csv-type.ts'
import { decodeToJson } from './decoded-json.ts'
import { getField, asList, asObject, asString, type JsonObject } from '../fields.ts'

export interface CsvMetadataResult {
  readonly metadata: JsonObject
  /** Why opm cannot make it, in its words. */
  readonly problem?: string
}

/** The property's value for a ClusterServiceVersion (its whole document), as far as it can be read. */
export function parseCsvMetadata(tree: Value): CsvMetadataResult {
  const { json, problem } = decodeToJson(csvType, tree)
  // What has a decoder of its own stops Go at once; all other mistakes are told at the end.
  const found = findVersionProblem(valueAt(tree, 'spec')) ?? problem
  return { metadata: toCsvMetadata(json), ...(found !== undefined && { problem: found }) }
}

/** What is wrong with release or version; null counts as an empty text. */
function findVersionProblem(spec: Value | undefined): string | undefined {
  for (const field of ['release', 'version'] as const) {
    const value = valueAt(spec, field)
    if (!value) continue
    if (value.kind !== 'string' && value.kind !== 'null')
      return `json: cannot unmarshal ${getGoKind(value)} into Go struct field ClusterServiceVersionSpec.spec.${field} of type string`
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
    ...optionalField('annotations', filterStringMap(getField(csv, 'metadata', 'annotations'))),
    // These two and the provider are always written, be they empty.
    apiServiceDefinitions: describeOwnedAndRequired(spec['apiservicedefinitions'], toApiServiceDescription),
    crdDescriptions: describeOwnedAndRequired(spec['customresourcedefinitions'], toCrdDescription),
    ...pickNonEmptyStrings(spec, 'description', 'displayName'),
    ...optionalField('installModes', asList(spec['installModes']).map(toInstallMode)),
    ...optionalField('keywords', filterStrings(spec['keywords'])),
    ...optionalField('labels', filterStringMap(getField(csv, 'metadata', 'labels'))),
    ...optionalField(
      'links',
      asList(spec['links']).map((link) => pickNonEmptyStrings(asObject(link), 'name', 'url')),
    ),
    ...optionalField(
      'maintainers',
      asList(spec['maintainers']).map((person) => pickNonEmptyStrings(asObject(person), 'name', 'email')),
    ),
    ...pickNonEmptyStrings(spec, 'maturity', 'minKubeVersion'),
    ...optionalField(
      'nativeAPIs',
      asList(spec['nativeAPIs']).map((api) => pickStrings(asObject(api), 'group', 'version', 'kind')),
    ),
    provider: pickNonEmptyStrings(asObject(spec['provider']), 'name', 'url'),
  }
}

function describeOwnedAndRequired(
  value: Json | undefined,
  describe: (entry: JsonObject) => JsonObject,
): JsonObject {
  const definitions = asObject(value)
  return {
    ...optionalField(
      'owned',
      asList(definitions['owned']).map((entry) => describe(asObject(entry))),
    ),
    ...optionalField(
      'required',
      asList(definitions['required']).map((entry) => describe(asObject(entry))),
    ),
  }
}

function toCrdDescription(entry: JsonObject): JsonObject {
  return { ...pickStrings(entry, 'name', 'version', 'kind'), ...toDescriptionFields(entry) }
}

function toApiServiceDescription(entry: JsonObject): JsonObject {
  const port = entry['containerPort']
  return {
    ...pickStrings(entry, 'name', 'group', 'version', 'kind'),
    ...pickNonEmptyStrings(entry, 'deploymentName'),
    ...(typeof port === 'number' && port !== 0 && { containerPort: port }),
    ...toDescriptionFields(entry),
  }
}

function toDescriptionFields(entry: JsonObject): JsonObject {
  return {
    ...pickNonEmptyStrings(entry, 'displayName', 'description'),
    ...optionalField(
      'resources',
      asList(entry['resources']).map((resource) =>
        pickStrings(asObject(resource), 'name', 'kind', 'version'),
      ),
    ),
    ...optionalField('statusDescriptors', asList(entry['statusDescriptors']).map(toDescriptor)),
    ...optionalField('specDescriptors', asList(entry['specDescriptors']).map(toDescriptor)),
    ...optionalField('actionDescriptors', asList(entry['actionDescriptors']).map(toDescriptor)),
  }
}

function toDescriptor(value: Json): JsonObject {
  const entry = asObject(value)
  return {
    ...pickStrings(entry, 'path'),
    ...pickNonEmptyStrings(entry, 'displayName', 'description'),
    ...optionalField('x-descriptors', filterStrings(entry['x-descriptors'])),
    ...(entry['value'] !== undefined && { value: entry['value'] }),
  }
}

function toInstallMode(value: Json): JsonObject {
  return { type: asString(getField(value, 'type')), supported: getField(value, 'supported') === true }
}

function pickStrings(entry: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, asString(entry[key])]))
}

function pickNonEmptyStrings(entry: JsonObject, ...keys: readonly string[]): JsonObject {
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
function optionalField(key: string, value: readonly Json[] | JsonObject): JsonObject {
  const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
  return isEmpty ? {} : { [key]: value }
}
