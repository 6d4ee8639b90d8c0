// Every image reference that a catalog's bundles name, with its place. Apart from named-references.ts, so that whoever
// only validates loads no reader of lists.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { NewReference } from '../change.ts'

/** A catalog's bundle images and related images, each bundle's every reference once, in the order of the catalog. */
export function* referencesOfCatalog({ bundles }: Pick<Catalog, 'bundles'>): Generator<NewReference> {
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
