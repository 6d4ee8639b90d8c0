// The packages of a catalog as opm's server knows them: each channel's head, and the edges of each entry. opm keeps it
// as `packages.json` in its cache. Made of a catalog that opm accepts.
import { upgradeGraph } from '../graph/upgrade-graph.ts'
import type { ModelPackage } from '../model/model.ts'
import { compareBytes } from '../../go/text.ts'
import type { Deprecation } from './api-types.ts'
import type { ServedChannel, ServedPackage } from './served-package.ts'

/** By name, in the order of their bytes; so are channels and bundles below. */
export type PackageIndex = ReadonlyMap<string, IndexedPackage>

export interface IndexedPackage {
  readonly name: string
  readonly description: string
  readonly icon?: NonNullable<ServedPackage['icon']>
  readonly defaultChannel: string
  readonly channels: ReadonlyMap<string, IndexedChannel>
  readonly deprecation?: Deprecation
}

export interface IndexedChannel {
  readonly name: string
  readonly head: string
  readonly bundles: ReadonlyMap<string, IndexedBundle>
  readonly deprecation?: Deprecation
}

export interface IndexedBundle {
  readonly package: string
  readonly channel: string
  readonly name: string
  readonly replaces: string
  /** Null where none are written: Go writes an empty list in another way. */
  readonly skips: readonly string[] | null
}

export function packageIndex(
  packages: ReadonlyMap<string, ModelPackage>,
  contentOf: (name: string) => ServedPackage | undefined,
  channelsOf: (name: string) => readonly ServedChannel[],
): PackageIndex {
  return byName(packages, (parent, name): IndexedPackage => {
    const icon = contentOf(name)?.icon
    const written = new Map(channelsOf(name).map((channel) => [channel.name, channel.withSkips]))
    return {
      name,
      description: parent.blob.description,
      ...(icon && { icon }),
      defaultChannel: parent.blob.defaultChannel,
      channels: byName(parent.channels, (channel): IndexedChannel => {
        const entries = [...channel.entries.values()].map(({ entry }) => entry)
        const withSkips = written.get(channel.name)
        return {
          name: channel.name,
          head: upgradeGraph(entries).heads[0] ?? '',
          bundles: byName(channel.entries, ({ entry }) => ({
            package: name,
            channel: channel.name,
            name: entry.name,
            replaces: entry.replaces,
            skips: withSkips?.has(entry.name) === true ? entry.skips : null,
          })),
          ...deprecated(channel.deprecation),
        }
      }),
      ...deprecated(parent.deprecation),
    }
  })
}

function deprecated(deprecation: ModelPackage['deprecation']): { deprecation?: Deprecation } {
  return deprecation ? { deprecation: { message: deprecation.entry.message } } : {}
}

function byName<From, To>(
  from: ReadonlyMap<string, From>,
  change: (value: From, name: string) => To,
): ReadonlyMap<string, To> {
  const sorted = [...from].sort(([a], [b]) => compareBytes(a, b))
  return new Map(sorted.map(([name, value]) => [name, change(value, name)]))
}
