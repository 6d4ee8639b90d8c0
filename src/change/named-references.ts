// Every image reference that a repository names, with its place: those of a catalog's bundles, and the entries of a
// composite list. What a change names for the first time is new-references.ts's.
import type { Catalog } from '../catalog/catalog.ts'
import type { NewReference } from './change.ts'
import { readReferenceList } from './reference-list.ts'

/** A reference where it stands, new or not. */
export type NamedReference = NewReference

/** A catalog's bundle images and related images, each bundle's every reference once, in the order of the catalog. */
export function* referencesOfCatalog({ bundles }: Pick<Catalog, 'bundles'>): Generator<NamedReference> {
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

/** The entries of a composite list; none when the file is no such list. */
export function* referencesOfList(path: string, bytes: Uint8Array): Generator<NamedReference> {
  for (const { name, image, imageMark } of readReferenceList(bytes)?.references ?? [])
    yield { reference: image, at: { file: path, ...imageMark }, package: name, bundle: name, role: 'listed' }
}
