// Entries with a skipRange that parses; opm rejects the others.
import type { ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { VersionRange } from '@catalog-bot/fbc/versions/version-range'
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
