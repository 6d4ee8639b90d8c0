// Supplies templates with rendered bundles by reference. Callers pull the images.
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import { formatCatalogAsJsonLines } from '../write/format-json.ts'
import type { CatalogReadResult, WritableBundle, WritablePackage } from '../write/writable-catalog.ts'
import type { Json } from '../go/json/json.ts'
import { readJson, tryReadJson } from '../go/json/read-json.ts'
import { structTypeByPropertyType, parseBundleObject, parseManifest } from '../load/property-types.ts'
import { decodeGoStruct, getDecodedStructField, getDecodedStructList } from '../go/decode/decode.ts'
import {
  bytesType,
  createSliceType,
  stringType,
  createStructType,
  kubernetesObjectStructType,
} from '../go/decode/go-type.ts'
import { createSingleEntryMap, getMapValue, getStringByKey, type ParsedValue } from '../go/tree.ts'
import { decodeUtf8LikeGo } from '../go/utf8.ts'
import { toWritableIcon } from '../write/writable-catalog.ts'

/** The parts of a rendered bundle's ClusterServiceVersion that templates need. */
interface RenderedBundle {
  readonly blob: WritableBundle
  /** Defaults to the one among the blob's `olm.bundle.object` properties. */
  readonly csv?: Json
}

const substitutesForAnnotationKey = 'olm.substitutesFor'

const csvIconListType = createSliceType(
  createStructType('registry.Icon', { mediatype: stringType, base64data: bytesType }),
)

const csvIconsStructType = createStructType('registry.icons', { icon: csvIconListType })

export type { RenderedBundle }

/** Usually one bundle, or several if the reference is a catalog. The error is shown as is. */
export type RenderedBundleLookup = (reference: string) => CatalogReadResult<readonly RenderedBundle[]>

/** `explain` returns the error for an unknown reference. */
export function createRenderedBundleLookup(
  bundles: ReadonlyMap<string, RenderedBundle>,
  explain: (reference: string) => string,
): RenderedBundleLookup {
  return (reference) => {
    const bundle = bundles.get(reference)
    return bundle ? { ok: true, value: [bundle] } : { ok: false, error: explain(reference) }
  }
}

export interface BundlePropertyError {
  readonly index: number
  readonly type: string
  readonly error: string
}

/** The properties that opm can't decode. */
export function findBundlePropertyErrors(blob: WritableBundle): readonly BundlePropertyError[] {
  const catalog = { packages: [], channels: [], bundles: [blob], deprecations: [], others: [] }
  const { bundles } = parseCatalogFile(new TextEncoder().encode(formatCatalogAsJsonLines(catalog)))
  return (bundles[0]?.properties ?? []).flatMap(({ type, error }, index) =>
    error === undefined ? [] : [{ index, type, error }],
  )
}

/** Empty if the bundle has no ClusterServiceVersion. */
export function getPackageDescriptionAndIcon(
  bundle: RenderedBundle,
): Pick<WritablePackage, 'description' | 'icon'> {
  const csv = findRenderedBundleCsv(bundle)
  const spec = csv && isDecodableCsv(csv) ? getMapValue(csv, 'spec') : undefined
  const description = getMapValue(spec, 'description')
  const listed = getMapValue(spec, 'icon')
  return {
    ...(listed && decodeIcon(listed)),
    ...(description?.kind === 'string' && description.value !== '' && { description: description.value }),
  }
}

function decodeIcon(listed: ParsedValue): Pick<WritablePackage, 'icon'> | undefined {
  const { decoded, problems } = decodeGoStruct(csvIconsStructType, createSingleEntryMap('icon', listed))
  const [icon] = getDecodedStructList(decoded, 'icon')
  if (!icon || problems.length > 0) return undefined
  return { icon: toWritableIcon(icon) }
}

/** A bundle that substitutes another uses its build metadata as a release. */
export function hasSubstitutesForAnnotation(bundle: RenderedBundle): boolean {
  const csv = findRenderedBundleCsv(bundle)
  if (csv && isDecodableCsv(csv)) return getSubstitutedBundleName(csv) !== ''
  for (const { type, value, data } of decodeBundleProperties(bundle.blob)) {
    if (type === 'olm.csv.metadata') {
      const metadata = structTypeByPropertyType.get(type)
      if (!metadata || decodeGoStruct(metadata, value).problems.length > 0) continue
      const { decoded } = decodeGoStruct(metadata, value)
      const annotated = getStringByKey(decoded.sources.get('annotations'), substitutesForAnnotationKey)
      if (annotated !== '') return true
    }
    const object = data && tryReadJson(decodeUtf8LikeGo(data()))?.value
    if (object?.kind === 'map' && isDecodableCsv(object)) return getSubstitutedBundleName(object) !== ''
  }
  return false
}

/** The first object of that kind, readable or not. */
function findRenderedBundleCsv({ blob, csv }: RenderedBundle): ParsedValue | undefined {
  if (csv !== undefined) return convertJsonToParsedValue(csv)
  for (const { data } of decodeBundleProperties(blob)) {
    const manifest = data && parseManifest(data())
    if (manifest === undefined || typeof manifest === 'string') continue
    if (getStringByKey(manifest.value, 'kind') === 'ClusterServiceVersion') return manifest.value
  }
  return undefined
}

function isDecodableCsv(csv: ParsedValue): boolean {
  return decodeGoStruct(kubernetesObjectStructType, csv).problems.length === 0
}

function getSubstitutedBundleName(csv: ParsedValue): string {
  const { decoded } = decodeGoStruct(kubernetesObjectStructType, csv)
  const annotations = getDecodedStructField(decoded, 'metadata')?.sources.get('annotations')
  return getStringByKey(annotations, substitutesForAnnotationKey)
}

/** `data` is the manifest of an `olm.bundle.object`. */
function* decodeBundleProperties({
  properties = [],
}: WritableBundle): Generator<{ type: string; value: ParsedValue; data?: () => Uint8Array }> {
  let previous: (() => Uint8Array) | undefined
  for (const { type, value: json } of properties) {
    const value = convertJsonToParsedValue(json)
    if (type !== 'olm.bundle.object') {
      yield { type, value }
      continue
    }
    previous = parseBundleObject(value, previous).data
    yield { type, value, data: previous }
  }
}

function convertJsonToParsedValue(json: Json): ParsedValue {
  return readJson(JSON.stringify(json), 0).value
}
