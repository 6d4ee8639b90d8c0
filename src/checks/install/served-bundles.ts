// Reads a bundle from `olm.bundle.object`. `olm.csv.metadata` lacks deployments, permissions, and CRDs.
import { isJsonObject, tryParseJson } from '@catalog-bot/fbc/go/json/json'
import type { BundleBlob, Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { getBundle, getPackage, listBundles, listPackages } from '@catalog-bot/fbc/api/registry-queries'
import type { ServedCatalogResult } from '@catalog-bot/fbc/api/served-catalog'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'

// Queries catalog-bot's own catalog server code for a few packages, without a connection.
const simulatedCatalogServerName = 'catalog-bot'

/** Returns undefined if the catalog does not contain the whole bundle. */
export function readInlineBundle(
  catalog: Catalog,
  blob: BundleBlob,
  /** JSON texts as the catalog server returns them. */
  objects: readonly string[],
): BundleFiles | undefined {
  if (!hasBundleObjectProperties(blob)) return undefined
  const parsed = objects.map(parseKubeObjectKind)
  if (parsed.includes(undefined) || !parsed.includes('ClusterServiceVersion')) return undefined
  const encoder = new TextEncoder()
  const channels = catalog.channels
    .filter(
      ({ package: its, entries }) => its === blob.package && entries.some(({ name }) => name === blob.name),
    )
    .map(({ name }) => name)
  const prefix = 'operators.operatorframework.io.bundle'
  const annotations = {
    [`${prefix}.mediatype.v1`]: 'registry+v1',
    [`${prefix}.manifests.v1`]: 'manifests/',
    [`${prefix}.metadata.v1`]: 'metadata/',
    [`${prefix}.package.v1`]: blob.package,
    [`${prefix}.channels.v1`]: channels.join(','),
    [`${prefix}.channel.default.v1`]:
      catalog.packages.find(({ name }) => name === blob.package)?.defaultChannel ?? '',
  }
  return new Map([
    ...objects.map((text, index): [string, Uint8Array] => [
      `manifests/object-${index + 1}.json`,
      encoder.encode(text),
    ]),
    ['metadata/annotations.yaml', encoder.encode(JSON.stringify({ annotations }))],
  ])
}

export function hasBundleObjectProperties({ properties }: BundleBlob): boolean {
  return properties.some(({ type }) => type === 'olm.bundle.object')
}

function parseKubeObjectKind(text: string): string | undefined {
  const object = tryParseJson(text)
  if (!isJsonObject(object)) return undefined
  return typeof object['kind'] === 'string' ? object['kind'] : ''
}

/** The input contains only some packages, so the response is partial. */
export function simulateCatalogServerResponse(
  read: ServedCatalogResult,
  packageName: string,
): CatalogServerResponse {
  if (!read.ok) return { server: simulatedCatalogServerName, kind: 'refused', reason: read.error }
  const catalog = read.value
  const its = getPackage(catalog, packageName)
  if (!its.ok) return { server: simulatedCatalogServerName, kind: 'refused', reason: its.error }
  const channels = its.value.channels.map(({ name, csvName }) => ({ name, head: csvName }))
  const bundles = [...listBundles(catalog)].filter((bundle) => bundle.packageName === packageName)
  const errors = channels.flatMap(({ name, head }) => {
    const bundle = getBundle(catalog, { package: packageName, channel: name, name: head })
    return bundle.ok ? [] : [`the server returns no bundle for the head of channel ${name}: ${bundle.error}`]
  })
  return {
    server: simulatedCatalogServerName,
    kind: 'answered',
    isPart: true,
    packages: listPackages(catalog),
    defaultChannel: its.value.defaultChannelName,
    channels,
    bundles: bundles.map(({ channelName, csvName }) => ({ channel: channelName, name: csvName })),
    errors,
  }
}

/** The files that a server needs to serve the package. */
export function getPackageFilePaths(
  { packages, channels, bundles, deprecations, others }: Catalog,
  name: string,
): ReadonlySet<string> {
  return new Set([
    ...packages.filter((blob) => blob.name === name).map(({ place }) => place.file),
    ...[channels, bundles, deprecations, others].flatMap((blobs) =>
      blobs.filter((blob) => blob.package === name).map(({ place }) => place.file),
    ),
  ])
}
