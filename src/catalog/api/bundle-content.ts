// The channel-independent part of a bundle in OLM's registry API. Reads blobs that opm accepts; throws NotServed for
// what opm refuses only when it builds its cache.
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { jsonText } from '../../go/json/json-text.ts'
import { quote } from '../../go/text.ts'
import type { Value } from '../../go/tree.ts'
import { valueAt } from '../../go/tree.ts'
import { brokenByte, decodeLikeGo } from '../../go/utf8.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { trimLeadingSpace } from '../../go/yaml/chunks.ts'
import { bundleType } from '../load/blob-types.ts'
import { readBundleObject, readManifest } from '../load/bundle-object.ts'
import { propertyTypes } from '../load/property-types.ts'
import type { GroupVersionKind, RelatedImage, TypedValue } from './api-types.ts'

export interface BundleContent {
  readonly package: string
  readonly name: string
  readonly image: string
  readonly relatedImages: readonly RelatedImage[]
  readonly version: string
  readonly providedApis: readonly GroupVersionKind[]
  readonly requiredApis: readonly GroupVersionKind[]
  readonly dependencies: readonly TypedValue[]
  /** Without the bulky properties, which clients would copy into annotations. */
  readonly properties: readonly TypedValue[]
  /** Every olm.bundle.object as JSON. A text that isn't well-formed came from invalid UTF-8 (`brokenByte`). */
  readonly objects: readonly string[]
  /** Index of the first ClusterServiceVersion in `objects`, or -1. */
  readonly csv: number
  /** Only set if the bundle has exactly one olm.csv.metadata. */
  readonly csvMetadata?: Decoded
}

/** Why opm can't serve the catalog, in opm's words where possible. */
export class NotServed extends Error {}

/** opm works package by package and names the failing one. */
export function problemInPackage(name: string, problem: string): string {
  return `build package index: process package ${quote(name)}: ${problem}`
}

const bulky: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])
const csvKind = 'ClusterServiceVersion'

/** Aliases can expand without limit; V8's longest string is eight times this. */
const longestJson = 1 << 26

interface Property {
  readonly type: string
  readonly value: Value
}

export function readBundleContent(blob: Value): BundleContent {
  const { decoded } = decode(bundleType, blob)
  const properties = structsOf(decoded, 'properties').map((property): Property => ({
    type: textOf(property, 'type'),
    value: property.sources.get('value') ?? nothing,
  }))
  const ofType = (type: string): readonly Property[] => properties.filter((one) => one.type === type)
  const [metadata, ...others] = ofType('olm.csv.metadata')
  if (others.length > 0)
    throw new NotServed(
      `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${others.length + 1}`,
    )
  const [identity] = ofType('olm.package')
  return {
    package: textOf(decoded, 'package'),
    name: textOf(decoded, 'name'),
    image: textOf(decoded, 'image'),
    relatedImages: structsOf(decoded, 'relatedImages').map((related) => ({
      name: textOf(related, 'name'),
      image: textOf(related, 'image'),
    })),
    version: identity ? textOf(typed(identity), 'version') : '',
    providedApis: ofType('olm.gvk').map(groupVersionKind),
    requiredApis: ofType('olm.gvk.required').map(groupVersionKind),
    dependencies: properties.flatMap(dependency),
    properties: properties
      .filter(({ type }) => !bulky.has(type))
      .map(({ type, value }) => ({ type, value: wholeBlobText(value) })),
    ...readObjects(ofType('olm.bundle.object')),
    ...(metadata && { csvMetadata: typed(metadata) }),
  }
}

const nothing: Value = { kind: 'null', start: 0, end: 0 }

function typed({ type, value }: Property): Decoded {
  const known = propertyTypes.get(type)
  if (!known) throw new Error(`properties of type ${type} are not decoded`)
  return decode(known, value).decoded
}

function groupVersionKind(property: Property): GroupVersionKind {
  const gvk = typed(property)
  return { group: textOf(gvk, 'group'), version: textOf(gvk, 'version'), kind: textOf(gvk, 'kind') }
}

/** The older form of a requirement. */
function dependency(property: Property): TypedValue[] {
  if (property.type === 'olm.gvk.required') return [{ type: 'olm.gvk', value: wholeBlobText(property.value) }]
  if (property.type !== 'olm.package.required') return []
  const required = typed(property)
  const text = (field: string): string => wholeBlobText({ ...noText, value: textOf(required, field) })
  const range = `{"packageName":${text('packageName')},"version":${text('versionRange')}}`
  return [{ type: 'olm.package', value: range }]
}

const noText = { kind: 'string', start: 0, end: 0, quoted: true } as const

/** The JSON that opm stores for a blob: keys sorted by bytes, HTML unescaped, numbers as floats. */
export function wholeBlobText(value: Value): string {
  return whole(value, { escapeHtml: false, exactNumbers: false })
}

/** The JSON that Go writes when it embeds the value in other JSON. */
export function wholeRawText(value: Value): string {
  return whole(value, { escapeHtml: true, exactNumbers: false })
}

function whole(value: Value, options: { escapeHtml: boolean; exactNumbers: boolean }): string {
  const text = jsonText(value, { ...options, maxLength: longestJson })
  if (text.length >= longestJson) throw new NotServed('the blob is too long to be served')
  return text
}

function readObjects(properties: readonly Property[]): Pick<BundleContent, 'objects' | 'csv'> {
  const objects: string[] = []
  let csv = -1
  let previous: (() => Uint8Array) | undefined
  for (const { value } of properties) {
    const { data, problem, summary } = readBundleObject(value, previous)
    if (problem !== undefined) throw new NotServed(problem)
    const json = objectJson(data())
    if (csv < 0 && isCsv(json, summary.kind)) csv = objects.length
    objects.push(json)
    previous = data
  }
  return { objects, csv }
}

/** opm takes anything that starts with a brace as is, valid JSON or not, and reads the rest as YAML. */
function objectJson(data: Uint8Array): string {
  const text = decodeLikeGo(data, brokenByte)
  if (trimLeadingSpace(text).startsWith('{')) return text
  const manifest = readManifest(data)
  if (typeof manifest === 'string') throw new NotServed(manifest)
  return whole(manifest.value ?? nothing, { escapeHtml: true, exactNumbers: true })
}

/** opm parses the texts as YAML here: some JSON isn't YAML, and some text in braces isn't JSON. */
function isCsv(object: string, kind: string): boolean {
  if ((kind !== '' && kind !== csvKind) || !object.isWellFormed()) return false
  if (kind === csvKind && isPlainJson(object)) return true
  const read = readYaml(decodeYaml(new TextEncoder().encode(object)))
  const found = read.ok ? valueAt(read.value, 'kind') : undefined
  return found?.kind === 'string' && found.value === csvKind
}

/** JSON that YAML may read differently or reject: tabs, special characters, merge keys, keys beyond 1024 bytes. */
const perhapsNoYaml =
  /[\t\x7f-\x9f\ufeff\ufffe\uffff]|\\u[dD][89a-fA-F]|"<<"|"\s*[\r\n]\s*:|[{,\s]"(?:[^"\\]|\\.){256,}"\s*:/

/** True for JSON that is certainly YAML too; far cheaper than parsing it. */
function isPlainJson(object: string): boolean {
  if (perhapsNoYaml.test(object)) return false
  try {
    JSON.parse(object)
    return true
  } catch {
    return false
  }
}
