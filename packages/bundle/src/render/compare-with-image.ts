// Differences between a catalog's blob and its bundle image, except for `olm.csv.metadata` and `olm.bundle.object`.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { sortByBytes } from '@catalog-bot/fbc/go/text'
import { toSortedJson } from '@catalog-bot/fbc/go/json/sorted-json'
import { bundleMetadataPropertyTypes } from '@catalog-bot/fbc/template/find-drift'

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
    for (const [ours, theirs] of pairDifferingValues(
      catalogProperties.get(type) ?? new Set(),
      right.get(type) ?? new Set(),
    ))
      differences.push(createBundleDifference(`property ${type}`, ours, theirs, type === 'olm.package'))
  const toImageSet = (statement: ComparableBundle) =>
    new Set(
      statement.relatedImages.map((related) => related.image).filter((name) => name !== own && name !== ''),
    )
  for (const [ours, theirs] of pairDifferingValues(toImageSet(catalog), toImageSet(image)))
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
function pairDifferingValues(
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
): readonly (readonly [string | undefined, string | undefined])[] {
  const ours = sortByBytes([...left].filter((text) => !right.has(text)))
  const theirs = sortByBytes([...right].filter((text) => !left.has(text)))
  if (ours.length === 1 && theirs.length === 1) return [[ours[0], theirs[0]]]
  return [
    ...ours.map((text) => [text, undefined] as const),
    ...theirs.map((text) => [undefined, text] as const),
  ]
}
