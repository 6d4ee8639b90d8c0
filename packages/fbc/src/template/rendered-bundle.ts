// The parts of a rendered bundle's ClusterServiceVersion that templates need.
import type { Json } from '../go/json/json.ts'
import { JsonError } from '../go/json/json-error.ts'
import { readJson } from '../go/json/read-json.ts'
import { parseBundleObject, parseManifest } from '../load/bundle-object.ts'
import { decodeGoStruct, getStructList, getTextField } from '../go/decode/decode.ts'
import { bytes, slice, string, struct } from '../go/decode/go-type.ts'
import { objectType } from '../go/decode/object-type.ts'
import { propertyTypes } from '../load/property-types.ts'
import { getMapValue, type Value } from '../go/tree.ts'
import { decodeLikeGo } from '../go/utf8.ts'
import type { WritableBundle, WritablePackage } from '../write/writable-catalog.ts'

export interface RenderedBundle {
  readonly blob: WritableBundle
  /** Defaults to the one among the blob's `olm.bundle.object` properties. */
  readonly csv?: Json
}

const substitutesForAnnotationKey = 'olm.substitutesFor'

const iconListType = slice(struct('registry.Icon', { mediatype: string, base64data: bytes }))
const csvIconsType = struct('registry.icons', { icon: iconListType })

/** Empty if the bundle has no ClusterServiceVersion. */
export function getPackageDescription(bundle: RenderedBundle): Pick<WritablePackage, 'description' | 'icon'> {
  const csv = findCsv(bundle)
  const spec = csv && isReadableCsv(csv) ? getMapValue(csv, 'spec') : undefined
  const description = getMapValue(spec, 'description')
  const listed = getMapValue(spec, 'icon')
  return {
    ...(listed && decodeIcon(listed)),
    ...(description?.kind === 'string' && description.value !== '' && { description: description.value }),
  }
}

function decodeIcon(listed: Value): Pick<WritablePackage, 'icon'> | undefined {
  const entry = { key: 'icon', keyStart: 0, keyEnd: 0, value: listed }
  const { decoded, problems } = decodeGoStruct(csvIconsType, {
    kind: 'map',
    start: 0,
    end: 0,
    entries: [entry],
  })
  const [icon] = getStructList(decoded, 'icon')
  if (!icon || problems.length > 0) return undefined
  const data = icon.fields.get('base64data')
  return {
    icon: {
      // Re-encoding removes line breaks.
      base64data: data instanceof Uint8Array ? toBase64(data) : null,
      mediatype: getTextField(icon, 'mediatype'),
    },
  }
}

/** A bundle that substitutes another uses its build metadata as a release. */
export function hasSubstitutesForAnnotation(bundle: RenderedBundle): boolean {
  const csv = findCsv(bundle)
  if (csv && isReadableCsv(csv)) return getSubstitutedBundle(csv) !== ''
  for (const { type, value, data } of decodeProperties(bundle.blob)) {
    if (type === 'olm.csv.metadata') {
      const metadata = propertyTypes.get(type)
      if (!metadata || decodeGoStruct(metadata, value).problems.length > 0) continue
      const { decoded } = decodeGoStruct(metadata, value)
      const annotated = getSubstitutesFor(decoded.sources.get('annotations'))
      if (annotated !== '') return true
    }
    const object = data && parseJsonBytes(data())
    if (object?.kind === 'map' && isReadableCsv(object)) return getSubstitutedBundle(object) !== ''
  }
  return false
}

/** The first object of that kind, readable or not. */
function findCsv({ blob, csv }: RenderedBundle): Value | undefined {
  if (csv !== undefined) return parseJsonToValueTree(csv)
  for (const { data } of decodeProperties(blob)) {
    const manifest = data && parseManifest(data())
    if (manifest === undefined || typeof manifest === 'string') continue
    const kind = getMapValue(manifest.value, 'kind')
    if (kind?.kind === 'string' && kind.value === 'ClusterServiceVersion') return manifest.value
  }
  return undefined
}

function isReadableCsv(csv: Value): boolean {
  return decodeGoStruct(objectType, csv).problems.length === 0
}

function getSubstitutedBundle(csv: Value): string {
  const metadata = decodeGoStruct(objectType, csv).decoded.fields.get('metadata')
  if (typeof metadata !== 'object' || !('fields' in metadata)) return ''
  return getSubstitutesFor(metadata.sources.get('annotations'))
}

function getSubstitutesFor(annotations: Value | undefined): string {
  const annotated = getMapValue(annotations, substitutesForAnnotationKey)
  return annotated?.kind === 'string' ? annotated.value : ''
}

/** `data` is the manifest of an `olm.bundle.object`. */
function* decodeProperties({
  properties = [],
}: WritableBundle): Generator<{ type: string; value: Value; data?: () => Uint8Array }> {
  let previous: (() => Uint8Array) | undefined
  for (const { type, value: json } of properties) {
    const value = parseJsonToValueTree(json)
    if (type !== 'olm.bundle.object') {
      yield { type, value }
      continue
    }
    previous = parseBundleObject(value, previous).data
    yield { type, value, data: previous }
  }
}

function parseJsonToValueTree(json: Json): Value {
  return readJson(JSON.stringify(json), 0).value
}

function parseJsonBytes(data: Uint8Array): Value | undefined {
  try {
    return readJson(decodeLikeGo(data), 0).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function toBase64(data: Uint8Array): string {
  let binary = ''
  for (const byte of data) binary += String.fromCharCode(byte)
  return btoa(binary)
}
