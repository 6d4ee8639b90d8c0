// A related image without a reference. Often, the reference is under `value`, as in the bundle's annotations.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listParserLeniencies } from '../view/leniencies.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const relatedImageEmpty = defineRule<
  {
    bundle: string
    name: string
    index: number
    hasValue: boolean
  },
  CatalogRuleSignature
>({
  id: 'related-image-empty',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every relatedImages entry specifies an image',
  format: ({ bundle, name, index, hasValue }) => ({
    what: `the relatedImages entry ${name === '' ? `number ${index + 1}` : `"${name}"`} of ${bundle} does not specify an image${
      hasValue ? ' but has a "value" field' : ''
    }`,
    why: 'opm skips the entry, so tools that mirror the catalog do not copy the image.',
    fix: hasValue ? 'Rename "value" to "image".' : 'Set the image, or remove the entry.',
  }),
  *find(catalog) {
    const values = new Set(
      listParserLeniencies(catalog, 'unknown-field')
        .filter(({ path }) => /^relatedImages\[\d+\]\.value$/i.test(path))
        .map(({ package: inPackage, name, path }) => JSON.stringify([inPackage, name, path.split('.')[0]])),
    )
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const [index, { name, image, mark }] of bundle.blob.relatedImages.entries()) {
        if (image !== '') continue
        const hasValue = values.has(JSON.stringify([its.name, bundle.blob.name, `relatedImages[${index}]`]))
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, name, String(index)],
          data: { bundle: bundle.blob.name, name, index, hasValue },
        }
      }
    }
  },
})
