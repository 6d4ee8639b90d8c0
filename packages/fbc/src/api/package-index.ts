// `packages.json` in opm's cache: each channel's head and the edges of each entry. Expects a catalog that opm accepts.
import { compareBytes } from '../go/text.ts'
import { analyzeUpgradeGraph } from '../graph/upgrade-graph.ts'
import type { ApiDeprecation } from './api-types.ts'
import type { IndexChannelBlob, PackageIcon, PackageIndexBlobs } from './index-blobs.ts'

/** Packages, channels and bundles are sorted by the bytes of their names. */
export type PackageIndex = ReadonlyMap<string, IndexedPackage>

export interface IndexedPackage {
  readonly name: string
  readonly description: string
  readonly icon?: PackageIcon
  readonly defaultChannel: string
  readonly channels: ReadonlyMap<string, IndexedChannel>
  readonly deprecation?: ApiDeprecation
}

export interface IndexedChannel {
  readonly name: string
  readonly head: string
  readonly bundles: ReadonlyMap<string, IndexedBundle>
  readonly deprecation?: ApiDeprecation
}

/** opm keeps a bundle's range and deprecation with the bundle, not in `packages.json`. */
export interface IndexedBundle {
  readonly package: string
  readonly channel: string
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  /** Go writes an absent list differently from an empty one. */
  readonly hasSkips: boolean
  readonly skipRange: string
  readonly deprecation?: ApiDeprecation
}

export function buildPackageIndex({ packages, channels, deprecations }: PackageIndexBlobs): PackageIndex {
  const deprecated = new Map(
    deprecations.map((one) => [
      formatCompositeKey(one.package, one.schema, one.name),
      { message: one.message },
    ]),
  )
  const deprecationOf = (...of: readonly string[]): { deprecation?: ApiDeprecation } => {
    const deprecation = deprecated.get(formatCompositeKey(...of))
    return deprecation ? { deprecation } : {}
  }
  const ofPackage = Map.groupBy(channels, (channel) => channel.package)
  const indexed = (channel: IndexChannelBlob): IndexedChannel => ({
    name: channel.name,
    head: analyzeUpgradeGraph(channel.entries).heads[0] ?? '',
    bundles: toMapSortedByName(
      channel.entries.map((entry) => ({
        ...entry,
        package: channel.package,
        channel: channel.name,
        ...deprecationOf(channel.package, 'olm.bundle', entry.name),
      })),
    ),
    ...deprecationOf(channel.package, 'olm.channel', channel.name),
  })
  return toMapSortedByName(
    packages.map((one) => ({
      ...one,
      channels: toMapSortedByName((ofPackage.get(one.name) ?? []).map(indexed)),
      ...deprecationOf(one.name, 'olm.package', ''),
    })),
  )
}

function formatCompositeKey(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}

function toMapSortedByName<Named extends { readonly name: string }>(
  all: readonly Named[],
): ReadonlyMap<string, Named> {
  const sorted = [...all].sort((a, b) => compareBytes(a.name, b.name))
  return new Map(sorted.map((one) => [one.name, one]))
}
