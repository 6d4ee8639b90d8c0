// Bundles that a catalog of the base holds already, as templates would get them from their images. A digest stands for
// one content for ever, and the base was judged when it landed: what it says of that digest need not be asked again.
// A tag may have moved since, which is not this change's doing: it is asked about where the change says something else.
import { parseImageReference } from '../../../go/reference/image-reference.ts'
import type { BundleBlob } from '../../../catalog/facts/catalog.ts'
import type { RenderedBundle } from '../../../catalog/template/bundle-source.ts'
import { bulkyProperties, saysTheSame } from '../../../catalog/template/drift.ts'
import type { TemplateState } from '../../../change/layout/template-pairs.ts'

/**
 * The known bundles of a template with this schema, by reference. Substitutes templates look into the
 * ClusterServiceVersion, of which a catalog's facts keep too little: none for them.
 */
export function renderedBefore(
  schema: string,
  { known, result }: Pick<TemplateState, 'known' | 'result'>,
): ReadonlyMap<string, RenderedBundle> {
  const bundles = new Map<string, RenderedBundle>()
  if (schema === 'olm.template.substitutes') return bundles
  const now = new Map(result?.bundles.map((blob) => [blob.image, blob]))
  for (const catalog of known)
    for (const blob of catalog.bundles) {
      const { reference } = parseImageReference(blob.image)
      if (bundles.has(blob.image) || !reference) continue
      const other = now.get(blob.image)
      if (reference.digest !== undefined || other === undefined || saysTheSame(blob, other))
        bundles.set(blob.image, rendered(blob))
    }
  return bundles
}

function rendered({ name, package: its, image, properties, relatedImages }: BundleBlob): RenderedBundle {
  return {
    blob: {
      schema: 'olm.bundle',
      name,
      package: its,
      image,
      properties: properties
        .filter(({ type }) => !bulkyProperties.has(type))
        .map(({ type, value }) => ({ type, value })),
      relatedImages: relatedImages.map((related) => ({ name: related.name, image: related.image })),
    },
  }
}
