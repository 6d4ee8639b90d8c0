// A skipRange that covers no older version of its channel, on an entry without other incoming edges. The entry is
// unreachable.
import { defineRule } from '@catalog-bot/findings/rule'
import type { ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import { VersionIndex } from '@catalog-bot/fbc/versions/version-range'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import type { ChannelView, PackageView } from '../view/catalog-view.ts'
import { listSkipRanges } from '../view/skip-ranges.ts'

export const skipRangeMissesPredecessors = defineRule<
  {
    channel: string
    entry: string
    skipRange: string
    older: number
  },
  CatalogRuleSignature
>({
  id: 'skip-range-misses-predecessors',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A skipRange covers at least one older version in its package',
  format: ({ entry, skipRange, older }) => ({
    what: `the skipRange "${skipRange}" of ${entry} ${older === 1 ? 'does not cover the older version' : `covers none of the ${older} older versions`} in the channel`,
    why: 'No version in the catalog can upgrade to this entry, because no other edge leads to it.',
    fix: 'Correct the bounds, or make the entry replace the previous version.',
  }),
  *find(catalog) {
    const ladders = new Map<ChannelView, VersionIndex<string>>()
    const ladderOf = (its: PackageView, channel: ChannelView): VersionIndex<string> => {
      const known = ladders.get(channel)
      if (known) return known
      const names = channel.blob.entries.map(({ name }) => name)
      const made = new VersionIndex(names, (name) => its.bundle(name)?.version)
      ladders.set(channel, made)
      return made
    }
    for (const { in: its, channel, entry, own, range } of listSkipRanges(catalog)) {
      if (own.version === undefined) continue
      // Other edges lead to the entry, so the range might be for other channels and catalogs.
      if (hasIncomingEdgeFromChannel(entry, channel)) continue
      const version = own.version
      if (its.ladder().find(range, { olderThan: version }) !== undefined) continue
      const older = ladderOf(its, channel).countOlder(version)
      if (older === 0) continue
      yield {
        at: toFindingLocation(channel.blob.place, entry.mark),
        about: [its.name, channel.blob.name, entry.name],
        data: { channel: channel.blob.name, entry: entry.name, skipRange: entry.skipRange, older },
      }
    }
  },
})

function hasIncomingEdgeFromChannel({ replaces, skips }: ChannelEntry, { blob }: ChannelView): boolean {
  const from = new Set([replaces, ...skips])
  return blob.entries.some(({ name }) => from.has(name))
}
