// The order in which opm writes blobs. Like opm, drops blobs without a package, except custom ones.
import { compareBytes } from '../go/text.ts'
import type { JsonObject, WritableCatalog, WritableBundle } from './writable-catalog.ts'

const bundleMetadataPropertyTypes: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])
const singleLetterPattern = /^\p{L}$/u
const singleDigitPattern = /^\p{Nd}$/u

/**
 * Sorts packages by name. Each package has its package blob, channels by name, bundles by name, other blobs by schema,
 * and deprecations. Custom blobs without a package come last.
 */
export function sortBlobsForWriting(catalog: WritableCatalog): JsonObject[] {
  const packages = Map.groupBy(catalog.packages, ({ name }) => name)
  const channels = Map.groupBy(catalog.channels, ({ package: of }) => of)
  const bundles = Map.groupBy(catalog.bundles, ({ package: of }) => of ?? '')
  const others = Map.groupBy(catalog.others, ({ package: of }) => of)
  const deprecations = Map.groupBy(catalog.deprecations, ({ package: of }) => of)
  const groups = [packages, channels, bundles, others, deprecations]
  const names = new Set(groups.flatMap((group) => [...group.keys()]))
  const blobs = [...names]
    .filter((name) => name !== '')
    .sort(compareBytes)
    .flatMap((name) => [
      ...(packages.get(name) ?? []),
      ...sortBlobsByKey(channels.get(name), (channel) => channel.name),
      ...sortBlobsByKey(bundles.get(name), (bundle) => bundle.name ?? ''),
      ...sortBlobsByKey(others.get(name), ({ schema }) => schema).map(({ value }) => value),
      ...(deprecations.get(name) ?? []),
    ])
  // The types in writable-catalog.ts are JSON, which TypeScript can't infer because of optional fields.
  return [...blobs, ...(others.get('') ?? []).map(({ value }) => value)] as unknown as JsonObject[]
}

function sortBlobsByKey<Blob>(blobs: readonly Blob[] | undefined, key: (blob: Blob) => string): Blob[] {
  return [...(blobs ?? [])].sort((a, b) => compareBytes(key(a), key(b)))
}

// The order in which go-yaml v2 writes the keys of a mapping. Letters sort after everything else, numbers in names sort
// by value (`v9` before `v10`), and other characters sort by code point.

/** Compares two keys. The order is total and stable for any strings. */
export function compareYamlKeys(a: string, b: string): number {
  const left = [...a]
  const right = [...b]
  for (let at = 0; at < left.length && at < right.length; at++) {
    const [one = '', other = ''] = [left[at], right[at]]
    if (one === other) continue
    const [isLetter, otherIsLetter] = [singleLetterPattern.test(one), singleLetterPattern.test(other)]
    if (isLetter && otherIsLetter) return getCodePoint(one) - getCodePoint(other)
    if (isLetter || otherIsLetter) return otherIsLetter ? -1 : 1
    const [first, second] = [parseNaturalSortNumber(left, right, at), parseNaturalSortNumber(right, left, at)]
    if (first.value !== second.value) return first.value < second.value ? -1 : 1
    return first.end - second.end || getCodePoint(one) - getCodePoint(other)
  }
  return left.length - right.length
}

/**
 * The number that starts at `at`. If either string continues with a zero after a nonzero digit, the preceding digits
 * count as a leading one, so that `10` and `1` are compared as numbers of different length.
 */
function parseNaturalSortNumber(text: readonly string[], other: readonly string[], at: number) {
  let value = 0n
  if (text[at] === '0' || other[at] === '0')
    for (let before = at - 1; before >= 0 && singleDigitPattern.test(text[before] ?? ''); before--)
      if (text[before] !== '0') {
        value = 1n
        break
      }
  let end = at
  for (; end < text.length && singleDigitPattern.test(text[end] ?? ''); end++)
    // As wide as Go's int64, which wraps around.
    value = BigInt.asIntN(64, value * 10n + BigInt(getCodePoint(text[end] ?? '') - 0x30))
  return { value, end }
}

function getCodePoint(character: string): number {
  return character.codePointAt(0) ?? 0
}

// Reorders the bundles of a catalog as `opm render` does before it writes them: large properties last, and related
// images by reference. opm does not do this for templates.

/**
 * Returns the catalog with its bundles in that order. Related images with the same reference keep their order. opm
 * shuffles them if more than a dozen images are unsorted.
 */
export function sortCatalogForRendering(catalog: WritableCatalog): WritableCatalog {
  return { ...catalog, bundles: catalog.bundles.map(sortBundlePropertiesAndImages) }
}

function sortBundlePropertiesAndImages(bundle: WritableBundle): WritableBundle {
  const { properties, relatedImages } = bundle
  return {
    ...bundle,
    ...(properties && {
      properties: [
        ...properties.filter(({ type }) => !bundleMetadataPropertyTypes.has(type)),
        ...properties.filter(({ type }) => bundleMetadataPropertyTypes.has(type)),
      ],
    }),
    ...(relatedImages && { relatedImages: relatedImages.toSorted((a, b) => compareBytes(a.image, b.image)) }),
  }
}
