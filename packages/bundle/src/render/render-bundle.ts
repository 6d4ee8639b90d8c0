// Converts a bundle to its `olm.bundle` blob, field by field as `opm render` does (opm 1.73).
import { encodeBase64 } from '@catalog-bot/fbc/go/base64'
import { type Json, toSortedJson } from '@catalog-bot/fbc/go/json/json'
import { compareBytes, sortByBytes } from '@catalog-bot/fbc/go/text'
import { bundleMetadataPropertyTypes } from '@catalog-bot/fbc/template/find-drift'
import { parseCsvMetadata } from './csv-metadata.ts'
import { formatUntypedObjectAsGoJson } from '../manifest-document.ts'
import type { RegistryBundle, RelatedImage } from '../registry-bundle.ts'

export interface ComparableBundle {
  readonly name: string
  readonly package: string
  readonly properties: readonly { readonly type: string; readonly value: Json }[]
  readonly relatedImages: readonly { readonly name: string; readonly image: string }[]
}

export interface BundleDifference {
  /** `name`, `package`, `property olm.gvk`, `related image`. */
  readonly field: string
  /** As text. Absent if this side has no value. */
  readonly catalog?: string
  readonly image?: string
  /** True if the blob describes a different bundle than the image: another name, package or version. */
  readonly isIdentity: boolean
}

export interface OlmBundleBlob {
  readonly schema: 'olm.bundle'
  readonly name: string
  readonly package: string
  readonly image: string
  readonly properties: readonly { readonly type: string; readonly value: Json }[]
  readonly relatedImages?: readonly RelatedImage[]
}

export interface BundleRenderOptions {
  /** opm's `--migrate-level bundle-object-to-csv-metadata`: one `olm.csv.metadata` instead of the objects. */
  readonly csvMetadata?: boolean
}

/** `image` is the reference for the catalog; '' for a bundle without an image. */
export function renderBundle(
  bundle: RegistryBundle,
  image: string,
  options: BundleRenderOptions = {},
): OlmBundleBlob {
  // opm doesn't migrate a bundle without an image.
  const isMigrated = options.csvMetadata === true && image !== ''
  const bulky = isMigrated
    ? [{ type: 'olm.csv.metadata', value: parseCsvMetadata(bundle.csv.tree).metadata }]
    : bundle.objects
        .map(({ tree }) => encodeBase64(new TextEncoder().encode(formatUntypedObjectAsGoJson(tree))))
        .sort(compareBytes)
        .map((data) => ({ type: 'olm.bundle.object', value: { data } }))
  const related = collectRelatedImages(bundle, image)
  return {
    schema: 'olm.bundle',
    name: bundle.csv.name,
    package: bundle.package,
    image,
    properties: [...bundle.derivedProperties.map(({ type, value }) => ({ type, value })), ...bulky],
    ...(related.length > 0 && { relatedImages: related }),
  }
}

/** Returns opm's error if it can't migrate the bundle. */
export function findOpmMigrationError(bundle: RegistryBundle, image: string): string | undefined {
  if (image === '') return undefined
  const { problem } = parseCsvMetadata(bundle.csv.tree)
  return problem && `migrate: ${problem}`
}

function collectRelatedImages(bundle: RegistryBundle, image: string): readonly RelatedImage[] {
  const images = [...bundle.relatedImages]
  const listed = new Set(images.map((entry) => entry.image))
  // opm doesn't track that it already added the bundle's own image, so a container that uses the image adds it again.
  if (image !== '' && !listed.has(image)) images.push({ name: '', image })
  for (const reference of bundle.operatorImages)
    if (!listed.has(reference)) images.push({ name: '', image: reference })
  return images.sort((a, b) => compareBytes(a.image, b.image))
}

// Differences between a catalog's blob and its bundle image, except for `olm.csv.metadata` and `olm.bundle.object`.

/** All differences, in a stable order. `own` is the bundle's own image, which mirrors can rewrite. */
export function compareBundleWithImage(
  catalog: ComparableBundle,
  image: ComparableBundle,
  own: string,
): readonly BundleDifference[] {
  const differences: BundleDifference[] = []
  for (const field of ['name', 'package'] as const)
    if (catalog[field] !== image[field])
      differences.push({ field, catalog: catalog[field], image: image[field], isIdentity: true })
  const catalogProperties = groupPropertiesByType(catalog)
  const right = groupPropertiesByType(image)
  for (const type of sortByBytes(new Set([...catalogProperties.keys(), ...right.keys()])))
    for (const [ours, theirs] of diffStringSets(
      catalogProperties.get(type) ?? new Set(),
      right.get(type) ?? new Set(),
    ))
      differences.push(createBundleDifference(`property ${type}`, ours, theirs, type === 'olm.package'))
  const toImageSet = (statement: ComparableBundle) =>
    new Set(
      statement.relatedImages.map((related) => related.image).filter((name) => name !== own && name !== ''),
    )
  for (const [ours, theirs] of diffStringSets(toImageSet(catalog), toImageSet(image)))
    differences.push(createBundleDifference('related image', ours, theirs, false))
  return differences
}

function createBundleDifference(
  field: string,
  catalog: string | undefined,
  image: string | undefined,
  isIdentity: boolean,
): BundleDifference {
  return {
    field,
    ...(catalog !== undefined && { catalog }),
    ...(image !== undefined && { image }),
    isIdentity,
  }
}

function groupPropertiesByType(statement: ComparableBundle): Map<string, Set<string>> {
  const byType = new Map<string, Set<string>>()
  for (const { type, value } of statement.properties) {
    if (bundleMetadataPropertyTypes.has(type)) continue
    const values = byType.get(type) ?? new Set()
    byType.set(type, values.add(toSortedJson(value)))
  }
  return byType
}

/** Values that only one side has. If each side has exactly one, they form a single difference. */
function diffStringSets(left: ReadonlySet<string>, right: ReadonlySet<string>) {
  const ours = sortByBytes([...left].filter((text) => !right.has(text)))
  const theirs = sortByBytes([...right].filter((text) => !left.has(text)))
  if (ours.length === 1 && theirs.length === 1) return [[ours[0], theirs[0]]]
  return [
    ...ours.map((text) => [text, undefined] as const),
    ...theirs.map((text) => [undefined, text] as const),
  ]
}
