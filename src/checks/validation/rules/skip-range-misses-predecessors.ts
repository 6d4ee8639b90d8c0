// A skipRange that covers none of the older versions beside it: it opens no way at all.
import { compareVersions } from '../../../catalog/version.ts'
import { inRange } from '../../../catalog/version-range.ts'
import { catalogRule, placeOf } from '../catalog-rule.ts'
import { skipRanges } from '../skip-ranges.ts'

export const skipRangeMissesPredecessors = catalogRule<{
  channel: string
  entry: string
  skipRange: string
  older: number
}>({
  id: 'skip-range-misses-predecessors',
  severity: 'warning',
  since: '0.1.0',
  title: 'A skipRange covers at least one older version of its package',
  say: ({ entry, skipRange, older }) => ({
    what: `the skipRange "${skipRange}" of ${entry} covers none of the ${older} older version${older === 1 ? '' : 's'} in the channel`,
    why: 'A skipRange lets older versions jump to this one; this one lets nobody in the catalog jump.',
    fix: 'Correct its bounds, or remove it.',
  }),
  *find(catalog) {
    for (const { in: its, channel, entry, own, range } of skipRanges(catalog)) {
      if (own.version === undefined) continue
      const version = own.version
      // The common case first, and quickly: some older version is covered.
      const covers = its.bundles.some(
        (other) =>
          other.version && inRange(other.version, range) && compareVersions(other.version, version) < 0,
      )
      if (covers) continue
      const older = channel.blob.entries.filter(({ name }) => {
        const other = its.bundle(name)?.version
        return other !== undefined && compareVersions(other, version) < 0
      }).length
      if (older === 0) continue
      yield {
        at: placeOf(channel.blob.place, entry.mark),
        about: [its.name, channel.blob.name, entry.name],
        data: { channel: channel.blob.name, entry: entry.name, skipRange: entry.skipRange, older },
      }
    }
  },
})
