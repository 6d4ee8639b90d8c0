// opm's one migration, `bundle-object-to-csv-metadata`: a bundle's manifests give way to the metadata of its
// ClusterServiceVersion (opm-validate 4.2).
import { csvOf } from '../catalog/template/bundle-source.ts'
import type { WritableBundle, WritableCatalog } from '../catalog/write/writable.ts'
import { csvMetadata } from './csv-metadata.ts'

/** What opm's `--migrate-level` takes. */
export type MigrateLevel = 'none' | 'bundle-object-to-csv-metadata'

/** The catalog at a level. Bundles without an image, without a ClusterServiceVersion or migrated already stay as they are. */
export function migrated(catalog: WritableCatalog, level: MigrateLevel): WritableCatalog {
  if (level === 'none') return catalog
  return { ...catalog, bundles: catalog.bundles.map(migratedBundle) }
}

function migratedBundle(bundle: WritableBundle): WritableBundle {
  const { properties = [], image } = bundle
  if (image === '' || properties.some(({ type }) => type === 'olm.csv.metadata')) return bundle
  const csv = csvOf({ blob: bundle })
  if (csv === undefined) return bundle
  return {
    ...bundle,
    properties: [
      ...properties.filter(({ type }) => type !== 'olm.bundle.object'),
      { type: 'olm.csv.metadata', value: csvMetadata(csv) },
    ],
  }
}
