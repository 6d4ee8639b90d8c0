// What opm serves of an olm.bundle blob, whatever channel it is in: properties as JSON texts, what they say it provides
// and needs, and its manifests. Reads blobs that opm accepts; what opm refuses only when it serves is told as such.
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { jsonText } from '../../go/json/json-text.ts'
import { quote } from '../../go/text.ts'
import type { Value } from '../../go/tree.ts'
import { valueAt } from '../../go/tree.ts'
import { decodeLikeGo, decodeStrictly } from '../../go/utf8.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { trimLeadingSpace } from '../../go/yaml/chunks.ts'
import { bundleType } from '../load/blob-types.ts'
import { readBundleObject, readManifest } from '../load/bundle-object.ts'
import { propertyTypes } from '../load/property-types.ts'
import type { GroupVersionKind, TypedValue } from './api-types.ts'

export interface ServedBundle {
  readonly package: string
  readonly name: string
  readonly image: string
  readonly relatedImages: readonly { readonly name: string; readonly image: string }[]
  readonly version: string
  readonly providedApis: readonly GroupVersionKind[]
  readonly requiredApis: readonly GroupVersionKind[]
  readonly dependencies: readonly TypedValue[]
  /** Without the bulky ones, as OLM's API has them. */
  readonly properties: readonly TypedValue[]
  readonly manifests: ServedManifests
}

export interface ServedManifests {
  /** Every olm.bundle.object as JSON. */
  readonly objects: readonly string[]
  /** The first of them that is a ClusterServiceVersion; empty where none is. */
  readonly csv: string
  /** The only olm.csv.metadata, where there is one. */
  readonly csvMetadata?: Value
}

export type ServedBundleReading =
  | { readonly ok: true; readonly value: ServedBundle }
  /** opm's text where it has one. */
  | { readonly ok: false; readonly error: string }

const bulky: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])
/** opm's words for a manifest that no protocol buffer can hold. */
const notText = 'string field contains invalid UTF-8'
const csvKind = 'ClusterServiceVersion'

/** Aliases can make a short text into an endless one. */
export const longestJson = 100_000_000

export function readServedBundle(blob: Value): ServedBundleReading {
  const { decoded } = decode(bundleType, blob)
  const properties = structsOf(decoded, 'properties').map((property) => ({
    type: textOf(property, 'type'),
    value: property.sources.get('value') ?? nothing,
  }))
  const ofType = (type: string): readonly Value[] =>
    properties.filter((property) => property.type === type).map(({ value }) => value)
  const metadata = ofType('olm.csv.metadata')
  if (metadata.length > 1) {
    const error = `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${metadata.length}`
    return { ok: false, error }
  }
  const objects = readObjects(ofType('olm.bundle.object'))
  if (!objects.ok) {
    const { error } = objects
    return { ok: false, error: `store bundle ${quote(textOf(decoded, 'name'))}: ${error}` }
  }
  const [identity] = ofType('olm.package')
  return {
    ok: true,
    value: {
      package: textOf(decoded, 'package'),
      name: textOf(decoded, 'name'),
      image: textOf(decoded, 'image'),
      relatedImages: structsOf(decoded, 'relatedImages').map((related) => ({
        name: textOf(related, 'name'),
        image: textOf(related, 'image'),
      })),
      version: identity ? textOf(decodedProperty('olm.package', identity), 'version') : '',
      providedApis: ofType('olm.gvk').map((value) => groupVersionKind('olm.gvk', value)),
      requiredApis: ofType('olm.gvk.required').map((value) => groupVersionKind('olm.gvk.required', value)),
      dependencies: properties.flatMap(dependency),
      properties: properties
        .filter(({ type }) => !bulky.has(type))
        .map(({ type, value }) => ({ type, value: plainText(value) })),
      manifests: { ...objects.value, ...(metadata[0] && { csvMetadata: metadata[0] }) },
    },
  }
}

const nothing: Value = { kind: 'null', start: 0, end: 0 }

function decodedProperty(type: string, value: Value): Decoded {
  const known = propertyTypes.get(type)
  if (!known) throw new Error(`properties of type ${type} are not decoded`)
  return decode(known, value).decoded
}

function groupVersionKind(type: string, value: Value): GroupVersionKind {
  const decoded = decodedProperty(type, value)
  return {
    group: textOf(decoded, 'group'),
    version: textOf(decoded, 'version'),
    kind: textOf(decoded, 'kind'),
  }
}

/** The older form of a requirement: the type of what is needed, and a package's range where its version stands. */
function dependency({ type, value }: { type: string; value: Value }): TypedValue[] {
  if (type === 'olm.gvk.required') return [{ type: 'olm.gvk', value: plainText(value) }]
  if (type !== 'olm.package.required') return []
  const decoded = decodedProperty(type, value)
  const text = (field: string): string => plainText({ ...noText, value: textOf(decoded, field) })
  const range = `{"packageName":${text('packageName')},"version":${text('versionRange')}}`
  return [{ type: 'olm.package', value: range }]
}

const noText = { kind: 'string', start: 0, end: 0, quoted: true } as const

/** As opm keeps values: keys by their bytes, HTML as it is, numbers as floats. */
function plainText(value: Value): string {
  return jsonText(value, { escapeHtml: false, exactNumbers: false, maxLength: longestJson })
}

function readObjects(
  values: readonly Value[],
): { ok: true; value: Pick<ServedManifests, 'objects' | 'csv'> } | { ok: false; error: string } {
  const objects: string[] = []
  let csv = ''
  let previous: (() => Uint8Array) | undefined
  for (const value of values) {
    const { data, problem, summary } = readBundleObject(value, previous)
    const object = problem === undefined ? objectJson(data()) : undefined
    if (object === undefined) return { ok: false, error: problem ?? notText }
    objects.push(object)
    previous = data
    if (csv === '' && (summary.kind || kindInYaml(object)) === csvKind) csv = object
  }
  return { ok: true, value: { objects, csv } }
}

/** What begins with a brace is taken as it is; all else is YAML. Undefined for what no protocol buffer may hold. */
function objectJson(data: Uint8Array): string | undefined {
  if (trimLeadingSpace(decodeLikeGo(data)).startsWith('{')) return decodeStrictly(data)
  const manifest = readManifest(data)
  if (typeof manifest === 'string') return undefined
  const { value } = manifest
  return value ? jsonText(value, { escapeHtml: true, exactNumbers: true, maxLength: longestJson }) : 'null'
}

/** opm reads the texts as YAML once more, so that braces around what is no JSON may hold a kind after all. */
function kindInYaml(object: string): string {
  const read = readYaml(decodeYaml(new TextEncoder().encode(object)))
  const kind = read.ok ? valueAt(read.value, 'kind') : undefined
  return kind?.kind === 'string' ? kind.value : ''
}
