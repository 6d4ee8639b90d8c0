// What OLM's registry API takes from an olm.bundle blob, whatever channel the bundle is in: properties as JSON texts, what
// they say it provides and needs, and its manifests. Reads blobs that opm accepts; what opm refuses only when it makes its
// cache is thrown as a NotServed.
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
  /** Without the bulky ones, which clients would copy into annotations. */
  readonly properties: readonly TypedValue[]
  /** Every olm.bundle.object as JSON. A text that is not well-formed had bytes that are no UTF-8 (`brokenByte`). */
  readonly objects: readonly string[]
  /** Where the ClusterServiceVersion is among them: the first one; -1 where none is. */
  readonly csv: number
  /** The only olm.csv.metadata, where there is one. */
  readonly csvMetadata?: Decoded
}

/** Why opm serves no catalog that has the blob, in its words where it has some. */
export class NotServed extends Error {}

/** opm goes package by package, and says in which it failed. */
export function problemInPackage(name: string, problem: string): string {
  return `build package index: process package ${quote(name)}: ${problem}`
}

const bulky: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])
const csvKind = 'ClusterServiceVersion'

/** Aliases can make a short text into an endless one, and V8 has no text of more than eight times that. */
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

/** The older form of a requirement: the type of what is needed, and a package's range where its version stands. */
function dependency(property: Property): TypedValue[] {
  if (property.type === 'olm.gvk.required') return [{ type: 'olm.gvk', value: wholeBlobText(property.value) }]
  if (property.type !== 'olm.package.required') return []
  const required = typed(property)
  const text = (field: string): string => wholeBlobText({ ...noText, value: textOf(required, field) })
  const range = `{"packageName":${text('packageName')},"version":${text('versionRange')}}`
  return [{ type: 'olm.package', value: range }]
}

const noText = { kind: 'string', start: 0, end: 0, quoted: true } as const

/** A value as opm keeps it in a blob: keys by their bytes, HTML as it is, numbers as floats. */
export function wholeBlobText(value: Value): string {
  return whole(value, { escapeHtml: false, exactNumbers: false })
}

/** A value as Go writes it once more into other JSON. */
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

/** What begins with a brace is taken as it is, be it JSON or not; all else is YAML. */
function objectJson(data: Uint8Array): string {
  const text = decodeLikeGo(data, brokenByte)
  if (trimLeadingSpace(text).startsWith('{')) return text
  const manifest = readManifest(data)
  if (typeof manifest === 'string') throw new NotServed(manifest)
  return whole(manifest.value ?? nothing, { escapeHtml: true, exactNumbers: true })
}

/** opm reads the texts as YAML once more: not all JSON is YAML, and braces around what is no JSON may be. */
function isCsv(object: string, kind: string): boolean {
  if ((kind !== '' && kind !== csvKind) || !object.isWellFormed()) return false
  if (kind === csvKind && isPlainJson(object)) return true
  const read = readYaml(decodeYaml(new TextEncoder().encode(object)))
  const found = read.ok ? valueAt(read.value, 'kind') : undefined
  return found?.kind === 'string' && found.value === csvKind
}

/**
 * JSON that YAML may read otherwise, or not at all: tabs, characters and halves of pairs that it refuses, keys that are
 * merged, long (beyond 1024 bytes), or on another line than their colon.
 */
const perhapsNoYaml =
  /[\t\x7f-\x9f\ufeff\ufffe\uffff]|\\u[dD][89a-fA-F]|"<<"|"\s*[\r\n]\s*:|[{,\s]"(?:[^"\\]|\\.){256,}"\s*:/

/** What it surely is to a reader of YAML too: far cheaper to see than by reading it. */
function isPlainJson(object: string): boolean {
  if (perhapsNoYaml.test(object)) return false
  try {
    JSON.parse(object)
    return true
  } catch {
    return false
  }
}
