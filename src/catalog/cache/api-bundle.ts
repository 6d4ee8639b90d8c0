// A bundle as opm's gRPC API shows it, in the JSON that opm's cache keeps: one text for every channel that it is in.
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { blobText, jsonText } from '../../go/json/json-text.ts'
import { marshalList, marshalObject, marshalString, marshalText } from '../../go/json/marshal.ts'
import type { Piece } from '../../go/tar/pieces.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { characterWidth, decodeStrictly } from '../../go/utf8.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { trimLeadingSpace } from '../../go/yaml/chunks.ts'
import { bundleType } from '../load/blob-types.ts'
import { readBundleObject, readManifest } from '../load/bundle-object.ts'
import { propertyTypes } from '../load/property-types.ts'
import { csvOfMetadata } from './csv-of-metadata.ts'
import type { LongTexts } from './escaped-json.ts'

/** What a bundle's text takes from its package. */
export interface BundlePackage {
  readonly name: string
  readonly description: string
  /** What stands in each bundle's CSV for the package's icon, as it stands there; empty where it has none. */
  readonly iconInCsv: Uint8Array
}

/** What a bundle's text takes from a channel, beside the channel's name. */
export interface BundleEntry {
  readonly channel: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: string
  readonly deprecation: string | undefined
}

/** A text in pieces. What is in several files is the same object in each. */
export type Pieces = readonly Piece[]

export interface ApiBundle {
  readonly name: string
  /** The JSON of the bundle in a channel. */
  inChannel(entry: BundleEntry): Pieces
}

export type ApiBundleResult =
  | { readonly ok: true; readonly value: ApiBundle }
  /** opm's text. */
  | { readonly ok: false; readonly error: string }

const encoder = new TextEncoder()
const comma = encoder.encode(',')
const quote = encoder.encode('"')

/** Makes the API's bundle of an `olm.bundle` blob that opm loads. */
export function apiBundle(blob: Value, of: BundlePackage, texts: LongTexts): ApiBundleResult {
  const { decoded } = decode(bundleType, blob)
  const name = textOf(decoded, 'name')
  const properties = readProperties(decoded)
  const metadata = properties.filter(({ type }) => type === 'olm.csv.metadata')
  if (metadata.length > 1)
    return {
      ok: false,
      error: `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${metadata.length}`,
    }
  const identity = properties.find(({ type }) => type === 'olm.package')
  const version = identity ? textOf(typed(identity), 'version') : ''
  const manifests = readManifests(properties)
  let csv = manifests.find(({ isCsv }) => isCsv)?.quoted
  let objects = manifests.map(({ quoted }) => quoted)
  const [made] = metadata
  if (csv === undefined && made) {
    const around = {
      name,
      version,
      relatedImages: structsOf(decoded, 'relatedImages').map((image) => ({
        name: textOf(image, 'name'),
        image: textOf(image, 'image'),
      })),
      packageDescription: of.description,
      icon: of.iconInCsv,
    }
    csv = [quote, ...csvOfMetadata(typed(made), around, texts), quote]
    if (objects.length === 0) objects = [csv]
  }
  const identityText = `{${field('csvName', marshalText(name))}${field('packageName', marshalText(of.name))}`
  const apis = [
    field('bundlePath', marshalText(textOf(decoded, 'image'))),
    field('providedApis', marshalList(properties.filter(isOf('olm.gvk')).map(kindOf))),
    field('requiredApis', marshalList(properties.filter(isOf('olm.gvk.required')).map(kindOf))),
    field('version', marshalText(version)),
  ].join('')
  const described = encoder.encode(
    field('dependencies', marshalList(properties.flatMap(dependencyOf))) +
      field('properties', marshalList(properties.flatMap(propertyOf))),
  )
  return {
    ok: true,
    value: {
      name,
      inChannel({ channel, replaces, skips, skipRange, deprecation }) {
        const head = identityText + field('channelName', marshalText(channel))
        const tail = [
          field('replaces', marshalText(replaces)),
          field('skips', marshalList(skips.map(marshalString))),
          field('deprecation', deprecation),
        ].join('')
        const text = [
          head,
          ...(csv === undefined ? [] : ['"csvJson":', csv, comma]),
          ...(objects.length === 0 ? [] : ['"object":[', ...separated(objects), '],']),
          apis + field('skipRange', marshalText(skipRange)),
        ]
        // The last comma is the one too many; every bundle has properties.
        if (tail === '') return joined([...text, described.subarray(0, -1), '}'])
        return joined([...text, described, `${tail.slice(0, -1)}}`])
      },
    },
  }
}

/** A field that stands before others; empty for one that is left out. */
function field(key: string, json: string | undefined): string {
  return json === undefined ? '' : `"${key}":${json},`
}

function separated(texts: readonly Pieces[]): Pieces {
  return texts.flatMap((pieces, index) => (index === 0 ? [pieces] : [comma, pieces]))
}

function joined(pieces: readonly (string | Piece)[]): Pieces {
  return pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece))
}

interface Property {
  readonly type: string
  readonly value: Value
}

const nothing: Value = { kind: 'null', start: 0, end: 0 }

function readProperties(decoded: Decoded): readonly Property[] {
  return structsOf(decoded, 'properties').map((property) => ({
    type: textOf(property, 'type'),
    value: property.sources.get('value') ?? nothing,
  }))
}

function isOf(type: string): (property: Property) => boolean {
  return (property) => property.type === type
}

function typed({ type, value }: Property): Decoded {
  const known = propertyTypes.get(type)
  if (!known) throw new Error(`the type ${type} is not one that opm decodes`)
  return decode(known, value).decoded
}

function kindOf(property: Property): string {
  const gvk = typed(property)
  return marshalObject(['group', 'version', 'kind'].map((name) => [name, marshalText(textOf(gvk, name))]))
}

function dependencyOf(property: Property): readonly string[] {
  if (property.type === 'olm.gvk.required') return [typeAndValue('olm.gvk', blobText(property.value))]
  if (property.type !== 'olm.package.required') return []
  const required = typed(property)
  const [packageName, version] = ['packageName', 'versionRange'].map((name) => ({
    kind: 'string' as const,
    value: textOf(required, name),
    quoted: true,
    start: 0,
    end: 0,
  }))
  const entries = [
    { key: 'packageName', value: packageName as Value },
    { key: 'version', value: version as Value },
  ].map((entry) => ({ ...entry, keyStart: 0, keyEnd: 0 }))
  return [typeAndValue('olm.package', blobText({ kind: 'map', entries, start: 0, end: 0 }))]
}

/** All but the bulky ones, which clients would copy into annotations. */
function propertyOf({ type, value }: Property): readonly string[] {
  return type === 'olm.bundle.object' || type === 'olm.csv.metadata'
    ? []
    : [typeAndValue(type, blobText(value))]
}

function typeAndValue(type: string, value: string): string {
  return marshalObject([
    ['type', marshalText(type)],
    ['value', marshalText(value)],
  ])
}

interface Manifest {
  /** The manifest's JSON as a JSON string. */
  readonly quoted: Pieces
  readonly isCsv: boolean
}

function readManifests(properties: readonly Property[]): readonly Manifest[] {
  let previous: (() => Uint8Array) | undefined
  return properties.filter(isOf('olm.bundle.object')).map(({ value }) => {
    const { data } = readBundleObject(value, previous)
    previous = data
    return manifestOf(data())
  })
}

function manifestOf(data: Uint8Array): Manifest {
  const text = decodeStrictly(data)
  if (text === undefined) return { quoted: [encoder.encode(marshalBroken(data))], isCsv: false }
  const read = readManifest(data)
  const value = typeof read === 'string' ? undefined : read.value
  // What begins with a brace is passed on as it is, be it JSON or not.
  const json = trimLeadingSpace(text).startsWith('{')
    ? text
    : jsonText(value ?? nothing, { escapeHtml: true, exactNumbers: true })
  const kind = value ? valueAt(value, 'kind') : kindInYaml(json)
  const isCsv = kind?.kind === 'string' && kind.value === 'ClusterServiceVersion' && isYaml(json)
  return { quoted: [encoder.encode(marshalString(json))], isCsv }
}

/** Braces around what is no JSON may be a mapping in YAML, which is how opm reads them here. */
function kindInYaml(text: string): Value | undefined {
  const read = readYaml(decodeYaml(encoder.encode(text)))
  return read.ok ? valueAt(read.value, 'kind') : undefined
}

/** JSON that is no YAML: tabs outside of texts, halves of surrogate pairs, characters that go-yaml refuses. */
const perhapsNoYaml = /[\t\x7f-\x9f\ufeff\ufffe\uffff]|\\u[dD][89a-fA-F]/

/** opm looks for the ClusterServiceVersion with a reader of YAML, and passes over what it cannot read. */
function isYaml(json: string): boolean {
  return !perhapsNoYaml.test(json) || readYaml(decodeYaml(encoder.encode(json))).ok
}

/** Go writes an escape for each byte that is no character, where the character itself would stay as it is. */
function marshalBroken(data: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let start = 0
  for (let at = 0; at <= data.length;) {
    const width = at < data.length ? characterWidth(data, at) : 0
    if (width > 0) {
      at += width
      continue
    }
    text += marshalString(decoder.decode(data.subarray(start, at))).slice(1, -1)
    if (at < data.length) text += '\\ufffd'
    at += 1
    start = at
  }
  return `"${text}"`
}
