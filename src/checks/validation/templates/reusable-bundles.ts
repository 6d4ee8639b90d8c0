// Bundles that the base's catalog already has, to reuse for templates. The content of a digest never changes, and
// the base was already checked, so catalog-bot does not ask again. A moved tag matters only where the change differs.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import { bundleMetadataPropertyTypes, hasSameBundleFields } from '@catalog-bot/fbc/template/find-drift'
import type { LoadedTemplatePair } from '../../../pull-request/layout/template-pairs.ts'

/**
 * Known bundles by reference. Empty for substitutes templates, which need more of the ClusterServiceVersion than a
 * catalog stores.
 */
export function findAlreadyRenderedBundles(
  schema: string,
  { known, result }: Pick<LoadedTemplatePair, 'known' | 'result'>,
): ReadonlyMap<string, RenderedBundle> {
  const bundles = new Map<string, RenderedBundle>()
  if (schema === 'olm.template.substitutes') return bundles
  const now = new Map(result?.bundles.map((blob) => [blob.image, blob]))
  for (const catalog of known)
    for (const blob of catalog.bundles) {
      const { reference } = parseImageReference(blob.image)
      if (bundles.has(blob.image) || !reference) continue
      const other = now.get(blob.image)
      if (reference.digest !== undefined || other === undefined || hasSameBundleFields(blob, other))
        bundles.set(blob.image, toRenderedBundle(blob))
    }
  return bundles
}

function toRenderedBundle({
  name,
  package: its,
  image,
  properties,
  relatedImages,
}: BundleBlob): RenderedBundle {
  return {
    blob: {
      schema: 'olm.bundle',
      name,
      package: its,
      image,
      properties: properties
        .filter(({ type }) => !bundleMetadataPropertyTypes.has(type))
        .map(({ type, value }) => ({ type, value })),
      relatedImages: relatedImages.map((related) => ({ name: related.name, image: related.image })),
    },
  }
}
