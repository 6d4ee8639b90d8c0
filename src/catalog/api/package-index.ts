// The packages of a catalog as opm's server knows them: each channel's head, and the edges of each entry. Made of a catalog
// that opm accepts.
import { upgradeGraph } from '../graph/upgrade-graph.ts'
import type { ModelPackage } from '../model/model.ts'
import { compareBytes } from '../../go/text.ts'
import type { Deprecation } from './api-types.ts'

/** By name, in the order of their bytes; so are channels and bundles below. */
export type PackageIndex = ReadonlyMap<string, IndexedPackage>

export interface IndexedPackage {
  readonly name: string
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
  readonly skips: readonly string[]
}

export function packageIndex(packages: ReadonlyMap<string, ModelPackage>): PackageIndex {
  return byName(packages, ({ blob, channels, deprecation }, name): IndexedPackage => ({
    name,
    defaultChannel: blob.defaultChannel,
    channels: byName(channels, (channel): IndexedChannel => {
      const entries = [...channel.entries.values()].map(({ entry }) => entry)
      return {
        name: channel.name,
        head: upgradeGraph(entries).heads[0] ?? '',
        bundles: byName(channel.entries, ({ entry }) => ({
          package: name,
          channel: channel.name,
          name: entry.name,
          replaces: entry.replaces,
          skips: entry.skips,
        })),
        ...deprecated(channel.deprecation),
      }
    }),
    ...deprecated(deprecation),
  }))
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
