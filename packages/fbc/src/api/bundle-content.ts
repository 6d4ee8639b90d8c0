// The channel-independent part of a bundle in OLM's registry API. Reads blobs that opm accepts. Throws
// UnservableCatalogError for blobs that opm rejects only when it builds its cache.
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField,
  getDecodedStringFields,
} from '../go/decode/decode.ts'
import type { DecodedStruct } from '../go/decode/go-type.ts'
import { formatGoJson } from '../go/json/json-text.ts'
import { quoteLikeGo } from '../go/text.ts'
import { type ParsedValue, getStringByKey } from '../go/tree.ts'
import { invalidUtf8ByteMarker, decodeUtf8LikeGo } from '../go/utf8.ts'
import { decodeYaml, trimLeadingSpace } from '../go/yaml/encoding.ts'
import { readYaml } from '../go/yaml/read-yaml.ts'
import { bundleStructType } from '../load/blob-types.ts'
import { structTypeByPropertyType, parseBundleObject, parseManifest } from '../load/property-types.ts'
import type { GroupVersionKind, ApiRelatedImage, ApiPropertyOrDependency } from './api-types.ts'

export interface ApiBundleFields {
  readonly package: string
  readonly name: string
  readonly image: string
  readonly relatedImages: readonly ApiRelatedImage[]
  readonly version: string
  readonly providedApis: readonly GroupVersionKind[]
  readonly requiredApis: readonly GroupVersionKind[]
  readonly dependencies: readonly ApiPropertyOrDependency[]
  /** Omits the large properties, which clients would copy into annotations. */
  readonly properties: readonly ApiPropertyOrDependency[]
  /**
   * Every olm.bundle.object as JSON. A string that isn't well-formed comes from invalid UTF-8 (`invalidUtf8ByteMarker`).
   */
  readonly objects: readonly string[]
  /** Index of the first ClusterServiceVersion in `objects`, or -1. */
  readonly csv: number
  /** Only set if the bundle has exactly one olm.csv.metadata. */
  readonly csvMetadata?: DecodedStruct
}

/** The reason why opm can't serve the catalog, in opm's wording where possible. */
export class UnservableCatalogError extends Error {}

/** opm processes one package at a time and reports the package that fails. */
export function formatPackageIndexError(name: string, problem: string): string {
  return `build package index: process package ${quoteLikeGo(name)}: ${problem}`
}

const bundleMetadataPropertyTypes: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])
const csvKind = 'ClusterServiceVersion'

/** Aliases can expand without limit; V8's longest string is eight times this. */
const maxBlobJsonLength = 1 << 26

interface UndecodedProperty {
  readonly type: string
  readonly value: ParsedValue
}

export function parseApiBundleFields(blob: ParsedValue): ApiBundleFields {
  const { decoded } = decodeGoStruct(bundleStructType, blob)
  const properties = getDecodedStructList(decoded, 'properties').map((property): UndecodedProperty => ({
    type: getDecodedStringField(property, 'type'),
    value: property.sources.get('value') ?? nullValueNode,
  }))
  const ofType = (type: string): readonly UndecodedProperty[] => properties.filter((one) => one.type === type)
  const [metadata, ...others] = ofType('olm.csv.metadata')
  if (others.length > 0)
    throw new UnservableCatalogError(
      `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${others.length + 1}`,
    )
  const [identity] = ofType('olm.package')
  return {
    ...getDecodedStringFields(decoded, 'package', 'name', 'image'),
    relatedImages: getDecodedStructList(decoded, 'relatedImages').map((related) =>
      getDecodedStringFields(related, 'name', 'image'),
    ),
    version: identity ? getDecodedStringField(decodePropertyValue(identity), 'version') : '',
    providedApis: ofType('olm.gvk').map(parseGroupVersionKind),
    requiredApis: ofType('olm.gvk.required').map(parseGroupVersionKind),
    dependencies: properties.flatMap(toApiDependencies),
    properties: properties
      .filter(({ type }) => !bundleMetadataPropertyTypes.has(type))
      .map(({ type, value }) => ({ type, value: formatJsonAsStoredByOpm(value) })),
    ...extractBundleObjects(ofType('olm.bundle.object')),
    ...(metadata && { csvMetadata: decodePropertyValue(metadata) }),
  }
}

const nullValueNode: ParsedValue = { kind: 'null', start: 0, end: 0 }

function decodePropertyValue({ type, value }: UndecodedProperty): DecodedStruct {
  const known = structTypeByPropertyType.get(type)
  if (!known) throw new Error(`properties of type ${type} are not decoded`)
  return decodeGoStruct(known, value).decoded
}

function parseGroupVersionKind(property: UndecodedProperty): GroupVersionKind {
  return getDecodedStringFields(decodePropertyValue(property), 'group', 'version', 'kind')
}

/** The older form of a requirement. */
function toApiDependencies(property: UndecodedProperty): ApiPropertyOrDependency[] {
  if (property.type === 'olm.gvk.required')
    return [{ type: 'olm.gvk', value: formatJsonAsStoredByOpm(property.value) }]
  if (property.type !== 'olm.package.required') return []
  const required = decodePropertyValue(property)
  const text = (field: string) =>
    formatJsonAsStoredByOpm({ ...emptyStringNode, value: getDecodedStringField(required, field) })
  const range = `{"packageName":${text('packageName')},"version":${text('versionRange')}}`
  return [{ type: 'olm.package', value: range }]
}

const emptyStringNode = { kind: 'string', start: 0, end: 0, quoted: true } as const

/** The JSON that opm stores for a blob: keys sorted by bytes, HTML unescaped, numbers as floats. */
export function formatJsonAsStoredByOpm(value: ParsedValue): string {
  return formatLengthLimitedJson(value, { escapeHtml: false, exactNumbers: false })
}

/** The JSON that Go writes when it embeds the value in other JSON. */
export function formatJsonAsEmbeddedByGo(value: ParsedValue): string {
  return formatLengthLimitedJson(value, { escapeHtml: true, exactNumbers: false })
}

function formatLengthLimitedJson(
  value: ParsedValue,
  options: { escapeHtml: boolean; exactNumbers: boolean },
): string {
  const text = formatGoJson(value, { ...options, maxLength: maxBlobJsonLength })
  if (text.length >= maxBlobJsonLength) throw new UnservableCatalogError('the blob is too large to be served')
  return text
}

function extractBundleObjects(properties: readonly UndecodedProperty[]) {
  const objects: string[] = []
  let csv = -1
  let previous: (() => Uint8Array) | undefined
  for (const { value } of properties) {
    const { data, problem, summary } = parseBundleObject(value, previous)
    if (problem !== undefined) throw new UnservableCatalogError(problem)
    const json = decodeBundleObjectToJson(data())
    if (csv < 0 && isCsvJson(json, summary.kind)) csv = objects.length
    objects.push(json)
    previous = data
  }
  return { objects, csv }
}

/** opm accepts anything that starts with a brace, even invalid JSON, and parses everything else as YAML. */
function decodeBundleObjectToJson(data: Uint8Array): string {
  const text = decodeUtf8LikeGo(data, invalidUtf8ByteMarker)
  if (trimLeadingSpace(text).startsWith('{')) return text
  const manifest = parseManifest(data)
  if (typeof manifest === 'string') throw new UnservableCatalogError(manifest)
  return formatLengthLimitedJson(manifest.value ?? nullValueNode, { escapeHtml: true, exactNumbers: true })
}

/** opm parses the strings as YAML here, because some JSON isn't YAML, and some text in braces isn't JSON. */
function isCsvJson(object: string, kind: string): boolean {
  if ((kind !== '' && kind !== csvKind) || !object.isWellFormed()) return false
  if (kind === csvKind && isYamlCompatibleJson(object)) return true
  const read = readYaml(decodeYaml(new TextEncoder().encode(object)))
  return read.ok && getStringByKey(read.value, 'kind') === csvKind
}

/** JSON that YAML might parse differently or reject: tabs, special characters, merge keys, and keys over 1024 bytes. */
const yamlIncompatibleJsonPattern =
  /[\t\x7f-\x9f\ufeff\ufffe\uffff]|\\u[dD][89a-fA-F]|"<<"|"[^\S\r\n]*[\r\n]\s*:|[{,\s]"(?:[^"\\]|\\.){256,}"\s*:/

/** Returns true for JSON that is also valid YAML. This is much cheaper than parsing it. */
function isYamlCompatibleJson(object: string): boolean {
  if (yamlIncompatibleJsonPattern.test(object)) return false
  try {
    JSON.parse(object)
    return true
  } catch {
    return false
  }
}
