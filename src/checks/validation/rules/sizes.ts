import { defineRule, defineBundleBlobRule, definePackageRule, toFindingLocation } from '../catalog-rule.ts'

export const oversizedPackageRule = definePackageRule<{ bytes: number; limit: number; bundles: number }>({
  id: 'oversized-package',
  severity: 'warning',
  title: 'Every package is within the size limit',
  what: ({ bytes, limit, bundles }) =>
    `the package contains ${formatBytes(bytes)} of data in ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}, which exceeds the limit of ${formatBytes(limit)}`,
  why: 'GitHub warns about files larger than 50 MiB and rejects files larger than 100 MiB. Every cluster must also read the entire catalog.',
  fix: 'Remove bundles that are no longer in use, or migrate olm.bundle.object to olm.csv.metadata.',
  *find(its, limits) {
    if (its.blob === undefined) return
    const blobs = [
      its.blob,
      ...its.channels.map(({ blob }) => blob),
      ...its.bundles.map(({ blob }) => blob),
      ...its.deprecations,
    ]
    const bytes = blobs.reduce((sum, { place }) => sum + place.end - place.start, 0)
    if (bytes > limits.package)
      yield {
        at: toFindingLocation(its.blob.place),
        about: [its.name],
        data: { bytes, limit: limits.package, bundles: its.bundles.length },
      }
  },
})

export const oversizedBundleRule = defineBundleBlobRule<{ bundle: string; bytes: number; limit: number }>({
  id: 'oversized-bundle',
  severity: 'warning',
  title: 'Every bundle is within the size limit',
  what: ({ bundle, bytes, limit }) =>
    `${bundle} takes up ${formatBytes(bytes)} in the catalog, which exceeds the limit of ${formatBytes(limit)}`,
  why: 'The cluster receives a bundle as one message and stores it as Kubernetes objects. The size limits for messages and objects are only slightly higher.',
  fix: 'Render the catalog with `--migrate-level bundle-object-to-csv-metadata`, and shorten descriptions and examples.',
  *find({ blob: { place } }, limits) {
    const bytes = place.end - place.start
    if (bytes > limits.bundle) yield { data: { bytes, limit: limits.bundle } }
  },
})

export const oversizedCatalogRule = defineRule<{ bytes: number; limit: number; packages: number }>({
  id: 'oversized-catalog',
  severity: 'warning',
  title: 'Every catalog is within the size limit',
  what: ({ bytes, limit, packages }) =>
    `the catalog contains ${formatBytes(bytes)} of data in ${packages} ${packages === 1 ? 'package' : 'packages'}, which exceeds the limit of ${formatBytes(limit)}`,
  why: 'The pod that serves the catalog reads all of it at startup, and clusters give that pod little memory and time.',
  fix: 'Migrate olm.bundle.object to olm.csv.metadata, remove bundles that are no longer in use, or split the catalog.',
  *find({ catalog }, limits) {
    const bytes = catalog.files.reduce((sum, file) => sum + file.bytes, 0)
    if (bytes > limits.catalog)
      yield {
        about: ['', 'catalog'],
        data: { bytes, limit: limits.catalog, packages: catalog.packages.length },
      }
  },
})

function formatBytes(bytes: number): string {
  return bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
