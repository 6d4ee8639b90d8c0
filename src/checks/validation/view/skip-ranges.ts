// Entries with a skipRange that parses; opm rejects the others.
import type { ChannelEntry } from '../../../catalog/facts/catalog.ts'
import { parseVersionRange } from '../../../catalog/versions/version-range.ts'
import type { VersionRange } from '../../../catalog/versions/version-range.ts'
import type { BundleView, CatalogView, ChannelView, PackageView } from './catalog-view.ts'

export interface LocatedSkipRange {
  readonly in: PackageView
  readonly channel: ChannelView
  readonly entry: ChannelEntry
  readonly own: BundleView
  readonly range: VersionRange
}

export function* listSkipRanges(catalog: CatalogView): Generator<LocatedSkipRange> {
  for (const its of catalog.packages) {
    for (const channel of its.channels) {
      for (const entry of channel.blob.entries) {
        if (entry.skipRange === '') continue
        const own = its.bundle(entry.name)
        const range = parseVersionRange(entry.skipRange)
        if (own && range.ok) yield { in: its, channel, entry, own, range: range.value }
      }
    }
  }
}
