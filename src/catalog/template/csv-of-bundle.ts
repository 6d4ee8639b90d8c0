// The parts of a rendered bundle's ClusterServiceVersion that templates need.
import type { Json } from '../../go/json/json.ts'
import { JsonError } from '../../go/json/json-error.ts'
import { readJson } from '../../go/json/read-json.ts'
import { readBundleObject, readManifest } from '../load/bundle-object.ts'
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import { bytes, slice, string, struct } from '../../go/decode/go-type.ts'
import { objectType } from '../../go/decode/object-type.ts'
import { propertyTypes } from '../load/property-types.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { decodeLikeGo } from '../../go/utf8.ts'
import type { WritableBundle, WritablePackage } from '../write/writable.ts'

export interface RenderedBundle {
  readonly blob: WritableBundle
  /** Defaults to the one among the blob's `olm.bundle.object` properties. */
  readonly csv?: Json
}

const annotation = 'olm.substitutesFor'

const icons = slice(struct('registry.Icon', { mediatype: string, base64data: bytes }))
const iconsType = struct('registry.icons', { icon: icons })

/** Empty if the bundle has no ClusterServiceVersion. */
export function describedBy(bundle: RenderedBundle): Pick<WritablePackage, 'description' | 'icon'> {
  const csv = csvOf(bundle)
  const spec = csv && isReadable(csv) ? valueAt(csv, 'spec') : undefined
  const description = valueAt(spec, 'description')
  const listed = valueAt(spec, 'icon')
  return {
    ...(listed && iconOf(listed)),
    ...(description?.kind === 'string' && description.value !== '' && { description: description.value }),
  }
}

function iconOf(listed: Value): Pick<WritablePackage, 'icon'> | undefined {
  const entry = { key: 'icon', keyStart: 0, keyEnd: 0, value: listed }
  const { decoded, problems } = decode(iconsType, { kind: 'map', start: 0, end: 0, entries: [entry] })
  const [icon] = structsOf(decoded, 'icon')
  if (!icon || problems.length > 0) return undefined
  const data = icon.fields.get('base64data')
  return {
    icon: {
      // Re-encoding removes line breaks.
      base64data: data instanceof Uint8Array ? base64(data) : null,
      mediatype: textOf(icon, 'mediatype'),
    },
  }
}

/** A bundle that substitutes another uses its build metadata as a release. */
export function saysItSubstitutes(bundle: RenderedBundle): boolean {
  const csv = csvOf(bundle)
  if (csv && isReadable(csv)) return substituted(csv) !== ''
  for (const { type, value, data } of decodedProperties(bundle.blob)) {
    if (type === 'olm.csv.metadata') {
      const metadata = propertyTypes.get(type)
      if (!metadata || decode(metadata, value).problems.length > 0) continue
      const { decoded } = decode(metadata, value)
      const told = annotationIn(decoded.sources.get('annotations'))
      if (told !== '') return true
    }
    const object = data && jsonIn(data())
    if (object?.kind === 'map' && isReadable(object)) return substituted(object) !== ''
  }
  return false
}

/** The first object of that kind, readable or not. */
function csvOf({ blob, csv }: RenderedBundle): Value | undefined {
  if (csv !== undefined) return asValue(csv)
  for (const { data } of decodedProperties(blob)) {
    const manifest = data && readManifest(data())
    if (manifest === undefined || typeof manifest === 'string') continue
    const kind = valueAt(manifest.value, 'kind')
    if (kind?.kind === 'string' && kind.value === 'ClusterServiceVersion') return manifest.value
  }
  return undefined
}

function isReadable(csv: Value): boolean {
  return decode(objectType, csv).problems.length === 0
}

function substituted(csv: Value): string {
  const metadata = decode(objectType, csv).decoded.fields.get('metadata')
  if (typeof metadata !== 'object' || !('fields' in metadata)) return ''
  return annotationIn(metadata.sources.get('annotations'))
}

function annotationIn(annotations: Value | undefined): string {
  const told = valueAt(annotations, annotation)
  return told?.kind === 'string' ? told.value : ''
}

/** `data` is the manifest of an `olm.bundle.object`. */
function* decodedProperties({
  properties = [],
}: WritableBundle): Generator<{ type: string; value: Value; data?: () => Uint8Array }> {
  let previous: (() => Uint8Array) | undefined
  for (const { type, value: json } of properties) {
    const value = asValue(json)
    if (type !== 'olm.bundle.object') {
      yield { type, value }
      continue
    }
    previous = readBundleObject(value, previous).data
    yield { type, value, data: previous }
  }
}

function asValue(json: Json): Value {
  return readJson(JSON.stringify(json), 0).value
}

function jsonIn(data: Uint8Array): Value | undefined {
  try {
    return readJson(decodeLikeGo(data), 0).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function base64(data: Uint8Array): string {
  let binary = ''
  for (const byte of data) binary += String.fromCharCode(byte)
  return btoa(binary)
}
