// Limits a catalog to newer versions, as `opm alpha render-graph --minimum-edge` does.
import { getJsonStringField } from '../go/json/json.ts'
import { quoteLikeGo } from '../go/text.ts'
import type { Catalog, ChannelBlob, ChannelEntry } from '../facts/catalog.ts'
import { isVersionInRange, parseVersionRange } from '../versions/version-range.ts'
import { compareVersions, parseVersion, type Version, zeroVersion } from '../versions/version.ts'
import type { CatalogReadResult } from '../write/writable-catalog.ts'

export interface GraphFilterOptions {
  readonly packageName?: string | undefined
  readonly minimumEdge?: string | undefined
}

/** Fails as opm does if any bundle has no version, even one outside the bounds. */
export function filterCatalogForGraph(
  catalog: Catalog,
  { packageName, minimumEdge }: GraphFilterOptions,
): CatalogReadResult<Catalog> {
  const versions = parseBundleVersions(catalog)
  if (!versions.ok) return versions
  const minimumVersion = minimumEdge === undefined ? undefined : versions.value.get(minimumEdge)
  if (minimumEdge !== undefined && minimumVersion === undefined)
    return { ok: false, error: `unknown minimum edge name: ${quoteLikeGo(minimumEdge)}` }
  const sorted = catalog.channels.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  const its = sorted.find(({ entries }) => entries.some(({ name }) => name === minimumEdge))?.package
  const channels = sorted
    .filter((channel) => packageName === undefined || channel.package === packageName)
    .filter((channel) => minimumVersion === undefined || its === undefined || channel.package === its)
    .map((channel) =>
      minimumVersion === undefined
        ? channel
        : {
            ...channel,
            entries: filterChannelEntriesByMinimumEdge(channel, minimumEdge, minimumVersion, versions.value),
          },
    )
    // Without bounds, opm draws empty channels too.
    .filter(({ entries }) => (packageName ?? minimumEdge) === undefined || entries.length > 0)
  return { ok: true, value: { ...catalog, channels } }
}

function filterChannelEntriesByMinimumEdge(
  { entries }: ChannelBlob,
  minimumEdge: string | undefined,
  minimumVersion: Version,
  versions: ReadonlyMap<string, Version>,
): ChannelEntry[] {
  const reaches = (name: string) => compareVersions(versions.get(name) ?? zeroVersion, minimumVersion) >= 0
  return entries.flatMap((entry) => {
    const { name, replaces, skips, skipRange } = entry
    // opm draws the minimum without the edges that lead to it.
    if (name === minimumEdge) return [{ ...entry, replaces: '', skips: [], skipRange: '' }]
    const range = skipRange === '' ? undefined : parseVersionRange(skipRange)
    const retained = {
      ...entry,
      replaces: replaces !== '' && reaches(replaces) ? replaces : '',
      skips: skips.filter(reaches),
      skipRange: range?.ok === true && isVersionInRange(minimumVersion, range.value) ? skipRange : '',
    }
    const hasEdges = retained.replaces !== '' || retained.skips.length > 0 || retained.skipRange !== ''
    const hadEdges = replaces !== '' || skips.length > 0 || skipRange !== ''
    return hasEdges || (!hadEdges && reaches(name)) ? [retained] : []
  })
}

/** The first bundle of each name in any package, because opm uses one map for all packages. */
function parseBundleVersions(catalog: Catalog): CatalogReadResult<Map<string, Version>> {
  const versions = new Map<string, Version>()
  for (const { name, properties } of catalog.bundles) {
    if (versions.has(name)) continue
    const broken = properties.find(({ error }) => error !== undefined)
    if (broken)
      return { ok: false, error: `parse properties for bundle ${quoteLikeGo(name)}: ${broken.error}` }
    const packages = properties.filter(({ type }) => type === 'olm.package')
    if (packages.length !== 1)
      return {
        ok: false,
        error: `bundle ${quoteLikeGo(name)} has multiple "olm.package" properties, expected exactly 1`,
      }
    const text = getJsonStringField(packages[0]?.value ?? null, 'version')
    const version = parseVersion(text)
    if (!version.ok)
      return {
        ok: false,
        error: `bundle ${quoteLikeGo(name)} has invalid version ${quoteLikeGo(text)}: ${version.error}`,
      }
    versions.set(name, version.value)
  }
  return { ok: true, value: versions }
}
