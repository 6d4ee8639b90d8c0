// Bundle names that would come to mean a second image: a bundle that one catalog gets anew, and another has already.
// Sees the catalogs of the change; within one catalog an edit is judged by bundle-edited.
import { parseImageReference } from '../../bundle/image-reference.ts'
import type { BundleBlob } from '../../catalog/catalog.ts'
import type { CatalogChange } from '../../change/change.ts'
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { bundleRepublished } from './rules/bundle-republished.ts'

export function* republishedBundles(catalogs: readonly CatalogChange[]): Generator<Finding> {
  // What is published counts first; among the new ones, the first catalog in order.
  const published = new Map<string, { readonly image: string; readonly catalog: string }>()
  const remember = (bundle: BundleBlob, catalog: string) => {
    const key = keyOf(bundle)
    if (bundle.image !== '' && !published.has(key)) published.set(key, { image: bundle.image, catalog })
  }
  for (const { root, base } of catalogs) for (const bundle of base?.bundles ?? []) remember(bundle, root)
  for (const { root, base, result } of catalogs) {
    const had = new Set((base?.bundles ?? []).map(keyOf))
    for (const bundle of result?.bundles ?? []) {
      if (had.has(keyOf(bundle))) continue
      const known = published.get(keyOf(bundle))
      if (known && !isSameImage(known.image, bundle.image) && bundle.image !== '')
        yield finding(
          bundleRepublished,
          {
            file: bundle.place.file,
            ...(bundle.imageMark ?? { line: bundle.place.line, column: bundle.place.column }),
          },
          { bundle: bundle.name, image: bundle.image, published: known.image, catalog: known.catalog },
        )
      remember(bundle, root)
    }
  }
}

function keyOf({ package: its, name }: BundleBlob): string {
  return `${its}\n${name}`
}

/** Digests decide where both have one: the registry may be another, the image is the same. */
function isSameImage(one: string, other: string): boolean {
  if (one === other) return true
  const [left, right] = [one, other].map((text) => parseImageReference(text).reference?.digest)
  return left !== undefined && left === right
}
