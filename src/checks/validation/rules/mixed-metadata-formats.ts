// Both bundle metadata formats in one package (olm.bundle.object and olm.csv.metadata). Usually, a migration is
// unfinished.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import type { BundleView } from '../view/catalog-view.ts'

export const mixedMetadataFormats = defineRule<
  { objects: string; metadata: string; withObjects: number },
  CatalogRuleSignature
>({
  id: 'mixed-metadata-formats',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'All bundles of a package use the same metadata format',
  format: ({ objects, metadata, withObjects }) => ({
    what:
      objects === metadata
        ? `${objects} has both olm.bundle.object and olm.csv.metadata`
        : `the package has ${withObjects} bundle${withObjects === 1 ? '' : 's'} with olm.bundle.object (such as ${objects}) and others with olm.csv.metadata (such as ${metadata})`,
    why: 'Full manifests make catalogs many times larger, and consoles show the two formats differently.',
    fix: 'Render the catalog with `--migrate-level bundle-object-to-csv-metadata`.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      // Bundles without an image exist only as objects and cannot be migrated.
      const installable = its.bundles.filter(({ blob }) => blob.image !== '')
      const withObjects = installable.filter((bundle) => hasPropertyOfType(bundle, 'olm.bundle.object'))
      const withMetadata = installable.filter((bundle) => hasPropertyOfType(bundle, 'olm.csv.metadata'))
      const [objects] = withObjects
      const metadata = withMetadata.find((bundle) => bundle === objects) ?? withMetadata[0]
      if (objects === undefined || metadata === undefined) continue
      yield {
        at: toFindingLocation(objects.blob.place),
        about: [its.name],
        data: {
          objects: objects.blob.name,
          metadata: metadata.blob.name,
          withObjects: withObjects.length,
        },
      }
    }
  },
})

function hasPropertyOfType(bundle: BundleView, type: string): boolean {
  return bundle.properties(type).length > 0
}
