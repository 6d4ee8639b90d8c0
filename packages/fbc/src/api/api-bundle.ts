// Builds an `api.Bundle` from the blobs of a catalog.
import {
  joinJsonChunks,
  type JsonChunkTree,
  marshalObject,
  marshalString,
  marshalNonEmptyString,
  marshalNonEmptyList,
  JsonChunkWriter,
} from '../go/json/json.ts'
import type { ApiBundle, ApiRelatedImage } from './api-types.ts'
import { type ApiBundleFields, formatJsonAsEmbeddedByGo } from './bundle-content.ts'
import type { IndexedBundle, IndexedPackage } from './package-index.ts'
import { getDecodedStructList, getDecodedStringField, getDecodedStringList } from '../go/decode/decode.ts'
import type { DecodedStruct } from '../go/decode/go-type.ts'
import { hasUniqueFieldNamesIgnoringCase } from '../go/decode/lazy-decoded.ts'
import { sortMapEntriesByKey } from '../go/json/json-text.ts'
import type { ParsedValue } from '../go/tree.ts'

type CsvJsonField = readonly [string, string | undefined]

export interface BundleManifests {
  readonly objects: readonly JsonChunkTree[]
  /** One of the objects, unless it was derived from `olm.csv.metadata`. */
  readonly csv?: JsonChunkTree
}

/** The manifests in the blob, or those that opm derives from `olm.csv.metadata`; the same in every channel. */
export function buildBundleManifests(content: ApiBundleFields, of: IndexedPackage): BundleManifests {
  const objects = content.objects.map((json): JsonChunkTree => [json])
  const csv = objects[content.csv] ?? buildStubCsv(content, of)
  if (!csv) return { objects }
  return { csv, objects: objects.length === 0 ? [csv] : objects }
}

export function buildApiBundle(content: ApiBundleFields, of: IndexedPackage, line: IndexedBundle): ApiBundle {
  const { csv, objects } = buildBundleManifests(content, of)
  return {
    csvName: line.name,
    packageName: line.package,
    channelName: line.channel,
    csvJson: csv ? joinJsonChunks(csv) : '',
    object: objects.map(joinJsonChunks),
    bundlePath: content.image,
    providedApis: content.providedApis,
    requiredApis: content.requiredApis,
    version: content.version,
    skipRange: line.skipRange,
    dependencies: content.dependencies,
    properties: content.properties,
    replaces: line.replaces,
    skips: line.skips,
    ...(line.deprecation && { deprecation: line.deprecation }),
  }
}

// The ClusterServiceVersion that opm generates for a bundle that has only `olm.csv.metadata`, byte for byte. OLM only
// displays it, because its install strategy is a stub.

/** Returns undefined if the bundle has no olm.csv.metadata. */
function buildStubCsv(content: ApiBundleFields, of: IndexedPackage): JsonChunkTree | undefined {
  const metadata = content.csvMetadata
  if (!metadata) return undefined
  const out = new JsonChunkWriter()
  out.open('{')
  out.field('kind', '"ClusterServiceVersion"')
  out.field('apiVersion', '"operators.coreos.com/v1alpha1"')
  out.key('metadata')
  out.open('{')
  out.field('name', marshalNonEmptyString(content.name))
  writeStringMap(out, metadata, 'labels')
  writeStringMap(out, metadata, 'annotations')
  out.close('}')
  out.key('spec')
  out.open('{')
  writeCsvSpec(out, metadata, content, of)
  out.close('}')
  out.field('status', '{"cleanup":{}}')
  out.close('}')
  return out.done()
}

function writeCsvSpec(
  out: JsonChunkWriter,
  metadata: DecodedStruct,
  content: ApiBundleFields,
  of: IndexedPackage,
): void {
  const text = (field: string) =>
    out.field(field, marshalNonEmptyString(getDecodedStringField(metadata, field)))
  // Without a strategy OLM's package server panics on a nil map.
  out.field('install', '{"strategy":"deployment","spec":{"deployments":null}}')
  out.field('version', marshalString(content.version))
  text('maturity')
  out.field(
    'customresourcedefinitions',
    formatApiDefinitions(metadata, 'crdDescriptions', formatCrdDescription),
  )
  out.field(
    'apiservicedefinitions',
    formatApiDefinitions(metadata, 'apiServiceDefinitions', formatApiServiceDescription),
  )
  out.field(...formatStructListAsCachedJson(metadata, 'nativeAPIs', formatGvk))
  text('minKubeVersion')
  out.field('displayName', marshalString(getDecodedStringField(metadata, 'displayName')))
  const description = getDecodedStringField(metadata, 'description') || of.description
  if (description !== '') {
    out.key('description')
    out.string(description)
  }
  out.field('keywords', formatStringList(metadata, 'keywords'))
  out.field(...formatStructListAsCachedJson(metadata, 'maintainers', formatMaintainer))
  out.field('provider', formatProvider(metadata))
  out.field(...formatStructListAsCachedJson(metadata, 'links', formatAppLink))
  writeIcon(out, of)
  out.field(...formatStructListAsCachedJson(metadata, 'installModes', formatInstallMode))
  out.field('cleanup', '{"enabled":false}')
  out.field('relatedImages', marshalNonEmptyList(content.relatedImages.map(formatRelatedImage)))
}

function writeIcon(out: JsonChunkWriter, { icon }: IndexedPackage): void {
  if (!icon) return
  out.key('icon')
  out.open('[')
  out.open('{')
  out.key('base64data')
  out.string(icon.base64data ?? '')
  out.field('mediatype', marshalString(icon.mediatype))
  out.close('}')
  out.close(']')
}

/** Go decodes null as an empty string here. */
function writeStringMap(out: JsonChunkWriter, metadata: DecodedStruct, name: string): void {
  const found = metadata.fields.get(name)
  if (typeof found !== 'object' || !('kind' in found) || found.kind !== 'map' || found.entries.length === 0)
    return
  out.key(name)
  out.open('{')
  for (const { key, value } of sortMapEntriesByKey(found.entries)) {
    out.key(key)
    out.string(value.kind === 'string' ? value.value : '')
  }
  out.close('}')
}

function formatRelatedImage({ name, image }: ApiRelatedImage): string {
  return marshalObject([
    ['name', marshalString(name)],
    ['image', marshalString(image)],
  ])
}

function formatApiDefinitions(metadata: DecodedStruct, field: string, each: (item: DecodedStruct) => string) {
  const found = metadata.fields.get(field)
  if (typeof found !== 'object' || !('fields' in found)) return '{}'
  return getOrFormatCachedJson(found, found.at, each, () =>
    marshalObject([
      formatStructListAsCachedJson(found, 'owned', each),
      formatStructListAsCachedJson(found, 'required', each),
    ]),
  )
}

/** Caches each struct and the whole list. */
function formatStructListAsCachedJson(
  of: DecodedStruct,
  field: string,
  each: (item: DecodedStruct) => string,
): CsvJsonField {
  const source = of.sources.get(field)
  if (!source) return [field, undefined]
  const list = getOrFormatCachedJson(of, source, each, () => {
    const items = getDecodedStructList(of, field).map((item) =>
      getOrFormatCachedJson(item, item.at, each, () => each(item)),
    )
    return marshalNonEmptyList(items) ?? ''
  })
  return [field, list === '' ? undefined : list]
}

/** Reuses the output for repeated text: versions of an Operator have nearly the same metadata. */
function getOrFormatCachedJson(owner: DecodedStruct, value: ParsedValue, by: object, write: () => string) {
  const memo = value.kind === 'map' || value.kind === 'list' ? value.memo : undefined
  if (!hasUniqueFieldNamesIgnoringCase(owner)) return write()
  if (memo?.marshalled?.by === by) return memo.marshalled.text
  const text = write()
  if (memo) memo.marshalled = { by, text }
  return text
}

// Their identity is the key of the cache.
const formatGvk = (item: DecodedStruct) => marshalObject(toJsonStringFields(item, 'group', 'version', 'kind'))
const formatApiResourceReference = (item: DecodedStruct) =>
  marshalObject(toJsonStringFields(item, 'name', 'kind', 'version'))
const formatMaintainer = (item: DecodedStruct) => formatNonEmptyStringFieldsAsJson(item, 'name', 'email')
const formatAppLink = (item: DecodedStruct) => formatNonEmptyStringFieldsAsJson(item, 'name', 'url')

function formatInstallMode(item: DecodedStruct): string {
  return marshalObject([
    ['type', marshalString(getDecodedStringField(item, 'type'))],
    ['supported', String(item.fields.get('supported') === true)],
  ])
}

function formatCrdDescription(item: DecodedStruct): string {
  return marshalObject([
    ...toJsonStringFields(item, 'name', 'version', 'kind'),
    ...formatApiDescriptionFields(item),
  ])
}

function formatApiServiceDescription(item: DecodedStruct): string {
  const port = item.fields.get('containerPort')
  return marshalObject([
    ...toJsonStringFields(item, 'name', 'group', 'version', 'kind'),
    ...toNonEmptyJsonStringFields(item, 'deploymentName'),
    ['containerPort', typeof port === 'number' && port !== 0 ? String(port) : undefined],
    ...formatApiDescriptionFields(item),
  ])
}

function formatApiDescriptionFields(item: DecodedStruct): CsvJsonField[] {
  const descriptors = (field: string): CsvJsonField =>
    formatStructListAsCachedJson(item, field, formatDescriptor)
  return [
    ...toNonEmptyJsonStringFields(item, 'displayName', 'description'),
    formatStructListAsCachedJson(item, 'resources', formatApiResourceReference),
    descriptors('statusDescriptors'),
    descriptors('specDescriptors'),
    descriptors('actionDescriptors'),
  ]
}

function formatDescriptor(item: DecodedStruct): string {
  const value = item.sources.get('value')
  return marshalObject([
    ...toJsonStringFields(item, 'path'),
    ...toNonEmptyJsonStringFields(item, 'displayName', 'description'),
    ['x-descriptors', formatStringList(item, 'x-descriptors')],
    ['value', value && formatJsonAsEmbeddedByGo(value)],
  ])
}

function formatProvider(metadata: DecodedStruct): string {
  const found = metadata.fields.get('provider')
  return typeof found === 'object' && 'fields' in found
    ? formatNonEmptyStringFieldsAsJson(found, 'name', 'url')
    : '{}'
}

function toJsonStringFields(item: DecodedStruct, ...names: readonly string[]): CsvJsonField[] {
  return names.map((name) => [name, marshalString(getDecodedStringField(item, name))])
}

function toNonEmptyJsonStringFields(item: DecodedStruct, ...names: readonly string[]): CsvJsonField[] {
  return names.map((name) => [name, marshalNonEmptyString(getDecodedStringField(item, name))])
}

function formatNonEmptyStringFieldsAsJson(item: DecodedStruct, ...names: readonly string[]): string {
  return marshalObject(toNonEmptyJsonStringFields(item, ...names))
}

function formatStringList(item: DecodedStruct, field: string): string | undefined {
  const source = item.sources.get(field)
  const list =
    source &&
    getOrFormatCachedJson(
      item,
      source,
      formatStringList,
      () => marshalNonEmptyList(getDecodedStringList(item, field).map(marshalString)) ?? '',
    )
  return list === '' ? undefined : list
}
