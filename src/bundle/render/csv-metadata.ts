// The `olm.csv.metadata` property: what catalogs keep of a ClusterServiceVersion. Only the fields that the operator
// API knows, in its shapes; what has the wrong type is left out, as if it were not there.
import type { Json } from '../../go/json/json.ts'
import { goKind } from '../../go/decode/go-value.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '../../catalog/versions/version.ts'
import { csvType } from '../csv-type.ts'
import { decodedJson } from './decoded-json.ts'
import { at, listOf, objectOf, textOf, type JsonObject } from '../fields.ts'

export interface ReadCsvMetadata {
  readonly metadata: JsonObject
  /** Why opm cannot make it, in its words. */
  readonly problem?: string
}

/** The property's value for a ClusterServiceVersion (its whole document), as far as it can be read. */
export function readCsvMetadata(tree: Value): ReadCsvMetadata {
  const { json, problem } = decodedJson(csvType, tree)
  // What has a decoder of its own stops Go at once; all other mistakes are told at the end.
  const found = releaseProblem(valueAt(tree, 'spec')) ?? problem
  return { metadata: csvMetadata(json), ...(found !== undefined && { problem: found }) }
}

/** What is wrong with release or version; null counts as an empty text. */
function releaseProblem(spec: Value | undefined): string | undefined {
  for (const field of ['release', 'version'] as const) {
    const value = valueAt(spec, field)
    if (!value) continue
    if (value.kind !== 'string' && value.kind !== 'null')
      return `json: cannot unmarshal ${goKind(value)} into Go struct field ClusterServiceVersionSpec.spec.${field} of type string`
    const text = value.kind === 'string' ? value.value : ''
    const parsed =
      field === 'version'
        ? [parseVersionTolerantly(text)]
        : text.split('.').map((part) => parsePrereleaseIdentifier(part))
    for (const part of parsed) if (!part.ok) return part.error
  }
  return undefined
}

function csvMetadata(csv: Json): JsonObject {
  const spec = objectOf(at(csv, 'spec'))
  return {
    ...present('annotations', stringMap(at(csv, 'metadata', 'annotations'))),
    // These two and the provider are always written, be they empty.
    apiServiceDefinitions: owned(spec['apiservicedefinitions'], apiService),
    crdDescriptions: owned(spec['customresourcedefinitions'], crd),
    ...texts(spec, 'description', 'displayName'),
    ...present('installModes', listOf(spec['installModes']).map(installMode)),
    ...present('keywords', strings(spec['keywords'])),
    ...present('labels', stringMap(at(csv, 'metadata', 'labels'))),
    ...present(
      'links',
      listOf(spec['links']).map((link) => texts(objectOf(link), 'name', 'url')),
    ),
    ...present(
      'maintainers',
      listOf(spec['maintainers']).map((person) => texts(objectOf(person), 'name', 'email')),
    ),
    ...texts(spec, 'maturity', 'minKubeVersion'),
    ...present(
      'nativeAPIs',
      listOf(spec['nativeAPIs']).map((api) => always(objectOf(api), 'group', 'version', 'kind')),
    ),
    provider: texts(objectOf(spec['provider']), 'name', 'url'),
  }
}

function owned(value: Json | undefined, describe: (entry: JsonObject) => JsonObject): JsonObject {
  const definitions = objectOf(value)
  return {
    ...present(
      'owned',
      listOf(definitions['owned']).map((entry) => describe(objectOf(entry))),
    ),
    ...present(
      'required',
      listOf(definitions['required']).map((entry) => describe(objectOf(entry))),
    ),
  }
}

function crd(entry: JsonObject): JsonObject {
  return { ...always(entry, 'name', 'version', 'kind'), ...description(entry) }
}

function apiService(entry: JsonObject): JsonObject {
  const port = entry['containerPort']
  return {
    ...always(entry, 'name', 'group', 'version', 'kind'),
    ...texts(entry, 'deploymentName'),
    ...(typeof port === 'number' && port !== 0 && { containerPort: port }),
    ...description(entry),
  }
}

function description(entry: JsonObject): JsonObject {
  return {
    ...texts(entry, 'displayName', 'description'),
    ...present(
      'resources',
      listOf(entry['resources']).map((resource) => always(objectOf(resource), 'name', 'kind', 'version')),
    ),
    ...present('statusDescriptors', listOf(entry['statusDescriptors']).map(descriptor)),
    ...present('specDescriptors', listOf(entry['specDescriptors']).map(descriptor)),
    ...present('actionDescriptors', listOf(entry['actionDescriptors']).map(descriptor)),
  }
}

function descriptor(value: Json): JsonObject {
  const entry = objectOf(value)
  return {
    ...always(entry, 'path'),
    ...texts(entry, 'displayName', 'description'),
    ...present('x-descriptors', strings(entry['x-descriptors'])),
    ...(entry['value'] !== undefined && { value: entry['value'] }),
  }
}

function installMode(value: Json): JsonObject {
  return { type: textOf(at(value, 'type')), supported: at(value, 'supported') === true }
}

function always(entry: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, textOf(entry[key])]))
}

function texts(entry: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.map((key) => [key, textOf(entry[key])] as const).filter(([, text]) => text !== ''),
  )
}

function strings(value: Json | undefined): readonly string[] {
  return listOf(value).filter((entry) => typeof entry === 'string')
}

function stringMap(value: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(objectOf(value)).filter(([, entry]) => typeof entry === 'string'))
}

/** The field, unless its value is an empty list or an empty map. */
function present(key: string, value: readonly Json[] | JsonObject): JsonObject {
  const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
  return isEmpty ? {} : { [key]: value }
}
