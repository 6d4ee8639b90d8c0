import { defineRule, defineBundleBlobRule, toFindingLocation } from '../catalog-rule.ts'
import { listStrictDecodingProblems } from '../view/catalog-view.ts'

/** A related image without a reference. Often, the reference is under `value`, as in the bundle's annotations. */
export const relatedImageEmptyRule = defineRule<{
  bundle: string
  name: string
  index: number
  hasValue: boolean
}>({
  id: 'related-image-empty',
  severity: 'warning',
  title: 'Every relatedImages entry specifies an image',
  what: ({ bundle, name, index, hasValue }) =>
    `the relatedImages entry ${name === '' ? `number ${index + 1}` : `"${name}"`} of ${bundle} does not specify an image${
      hasValue ? ' but has a "value" field' : ''
    }`,
  why: 'opm skips the entry, so tools that mirror the catalog do not copy the image.',
  fix: ({ hasValue }) => (hasValue ? 'Rename "value" to "image".' : 'Set the image, or remove the entry.'),
  *find(catalog) {
    const values = new Set(
      listStrictDecodingProblems(catalog, 'unknown-field')
        .filter(({ path }) => /^relatedImages\[\d+\]\.value$/i.test(path))
        .map(({ package: inPackage, name, path }) => JSON.stringify([inPackage, name, path.split('.')[0]])),
    )
    for (const { blob } of catalog.packages.flatMap(({ bundles }) => bundles)) {
      if (blob.relatedImages.every(({ image }) => image !== '')) continue
      for (const [index, { name, image, mark }] of blob.relatedImages.entries()) {
        if (image !== '') continue
        const hasValue = values.has(JSON.stringify([blob.package, blob.name, `relatedImages[${index}]`]))
        yield {
          at: toFindingLocation(blob.place, mark),
          about: [blob.package, blob.name, name, String(index)],
          data: { bundle: blob.name, name, index, hasValue },
        }
      }
    }
  },
})

export const bundleImageNotRelatedRule = defineBundleBlobRule<{ bundle: string; image: string }>({
  id: 'bundle-image-not-related',
  severity: 'warning',
  title: "A bundle's related images include its own image",
  what: ({ bundle, image }) => `the related images of ${bundle} do not include its own image, ${image}`,
  why: 'Mirroring tools copy only the related images, so users cannot install the bundle from a mirror.',
  fix: 'Add the image to relatedImages, or render the bundle again.',
  *find({ blob: { image, relatedImages, imageMark } }) {
    if (image !== '' && !relatedImages.some((related) => related.image === image))
      yield { mark: imageMark, data: { image } }
  },
})

export const duplicateRelatedImageRule = defineBundleBlobRule<{ bundle: string; image: string }>({
  id: 'duplicate-related-image',
  severity: 'info',
  title: 'Each related image is listed only once',
  what: ({ bundle, image }) => `${bundle} lists the related image ${image} twice under the same name`,
  why: 'The duplicate is harmless, but it usually means that the list was edited by hand or combined from two sources.',
  fix: 'Remove the duplicate entry.',
  *find({ blob }) {
    const seen = new Set<string>()
    for (const { name, image, mark } of blob.relatedImages) {
      if (image === '') continue
      // Images contain no whitespace, so the key is unambiguous.
      const key = `${image} ${name}`
      if (seen.has(key)) yield { mark, about: [name, image], data: { image } }
      seen.add(key)
    }
  },
})
