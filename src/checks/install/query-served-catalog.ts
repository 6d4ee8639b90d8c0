// Queries catalog-bot's own catalog server code for a few packages, without a connection.
import { getBundle, getPackage, listBundles, listPackages } from '@catalog-bot/fbc/api/registry-queries'
import type { ServedCatalogResult } from '@catalog-bot/fbc/api/served-catalog'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'

const simulatedServerName = 'catalog-bot'

/** The input contains only some packages, so the response is partial. */
export function simulateCatalogServerResponse(
  read: ServedCatalogResult,
  packageName: string,
): CatalogServerResponse {
  if (!read.ok) return { server: simulatedServerName, kind: 'refused', reason: read.error }
  const catalog = read.value
  const its = getPackage(catalog, packageName)
  if (!its.ok) return { server: simulatedServerName, kind: 'refused', reason: its.error }
  const channels = its.value.channels.map(({ name, csvName }) => ({ name, head: csvName }))
  const bundles = [...listBundles(catalog)].filter((bundle) => bundle.packageName === packageName)
  const errors = channels.flatMap(({ name, head }) => {
    const bundle = getBundle(catalog, { package: packageName, channel: name, name: head })
    return bundle.ok ? [] : [`it returns no bundle for the head of ${name}: ${bundle.error}`]
  })
  return {
    server: simulatedServerName,
    kind: 'answered',
    isPart: true,
    packages: listPackages(catalog),
    defaultChannel: its.value.defaultChannelName,
    channels,
    bundles: bundles.map(({ channelName, csvName }) => ({ channel: channelName, name: csvName })),
    errors,
  }
}
