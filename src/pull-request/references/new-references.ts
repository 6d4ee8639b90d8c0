import type { CatalogChange, NewImageReference, ReferenceListChange } from '../change.ts'

/**
 * Returns the references of the result's bundles (bundle image and related images) that the base catalog with the same
 * root does not contain, once per bundle and role, in the order of the result.
 */
export function findNewImageReferences({ base, result }: CatalogChange): NewImageReference[] {
  const known = new Set<string>()
  for (const bundle of base?.bundles ?? []) {
    known.add(bundle.image)
    for (const { image } of bundle.relatedImages) known.add(image)
  }
  const found: NewImageReference[] = []
  for (const bundle of result?.bundles ?? []) {
    const { package: name, name: bundleName, place, image, imageMark } = bundle
    const at = ({ line, column }: { line: number; column: number }) => ({ file: place.file, line, column })
    if (image !== '' && !known.has(image))
      found.push({
        reference: image,
        at: at(imageMark ?? place),
        package: name,
        bundle: bundleName,
        role: 'bundle',
      })
    const named = new Set<string>()
    for (const related of bundle.relatedImages) {
      if (related.image === '' || known.has(related.image) || named.has(related.image)) continue
      named.add(related.image)
      found.push({
        reference: related.image,
        at: at(related.mark),
        package: name,
        bundle: bundleName,
        role: 'related',
      })
    }
  }
  return found
}

export function findNewListedReferences({
  path,
  added,
  updated,
  known,
}: ReferenceListChange): readonly NewImageReference[] {
  const named = [...added, ...updated.map(({ after, ...entry }) => ({ ...entry, image: after }))]
  return named
    .filter(({ image }) => !known.includes(image))
    .map(({ name, image, imageMark }) => ({
      reference: image,
      at: { file: path, line: imageMark.line, column: imageMark.column },
      package: name,
      bundle: name,
      role: 'listed',
    }))
}
