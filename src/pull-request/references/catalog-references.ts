// The image references of a catalog's bundles. Separate from list-references.ts so that validation doesn't load the
// list reader.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { NewImageReference } from '../change.ts'

/** Bundle and related images, once per bundle, in catalog order. */
export function* collectCatalogImageReferences({
  bundles,
}: Pick<Catalog, 'bundles'>): Generator<NewImageReference> {
  for (const { package: name, name: bundle, place, image, imageMark, relatedImages } of bundles) {
    const about = { package: name, bundle }
    const at = ({ line, column }: { line: number; column: number }) => ({ file: place.file, line, column })
    const named = new Set([''])
    if (image !== '') yield { reference: image, at: at(imageMark ?? place), ...about, role: 'bundle' }
    named.add(image)
    for (const related of relatedImages) {
      if (named.has(related.image)) continue
      named.add(related.image)
      yield { reference: related.image, at: at(related.mark), ...about, role: 'related' }
    }
  }
}
