// A bundle without an image whose inline objects do not include exactly one ClusterServiceVersion.
import { defineRule } from '@catalog-bot/findings/rule'
import { getStringField } from '../view/string-field.ts'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const objectsWithoutCsv = defineRule<
  { bundle: string; objects: number; csvs: number },
  CatalogRuleSignature
>({
  id: 'objects-without-csv',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle without an image has exactly one ClusterServiceVersion',
  format: ({ bundle, objects, csvs }) => ({
    what: `${bundle} has no image and ${csvs === 0 ? 'no' : csvs} ClusterServiceVersion${csvs > 1 ? 's' : ''} among its ${objects} object${objects === 1 ? '' : 's'}`,
    why: 'If a bundle has no image, OLM installs the objects in olm.bundle.object, which requires a ClusterServiceVersion.',
    fix: 'Render the bundle from its image, or add all of its manifests.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const { name, image, place } = bundle.blob
      const objects = bundle.properties('olm.bundle.object')
      if (image !== '' || objects.length === 0) continue
      const csvs = objects.filter(
        ({ value }) => getStringField(value, 'kind') === 'ClusterServiceVersion',
      ).length
      if (csvs === 1) continue
      yield {
        at: toFindingLocation(place),
        about: [its.name, name],
        data: { bundle: name, objects: objects.length, csvs },
      }
    }
  },
})
