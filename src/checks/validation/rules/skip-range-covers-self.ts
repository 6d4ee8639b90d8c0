import { defineRule } from '@catalog-bot/findings/rule'
import { isInRange } from '@catalog-bot/fbc/versions/version-range'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listSkipRanges } from '../view/skip-ranges.ts'

export const skipRangeCoversSelf = defineRule<
  {
    channel: string
    entry: string
    version: string
    skipRange: string
    covered: string
  },
  CatalogRuleSignature
>({
  id: 'skip-range-covers-self',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A skipRange covers only versions older than its entry',
  format: ({ entry, version, skipRange, covered }) => ({
    what: `the skipRange "${skipRange}" of ${entry} covers ${covered === entry ? 'its own version' : `the newer ${covered}`}`,
    why: 'A skipRange lists the versions that can upgrade directly to its entry, so this range offers an upgrade to the same or an older version.',
    fix: `End the range with <${version}.`,
  }),
  *find(catalog) {
    for (const { in: its, channel, entry, own, range } of listSkipRanges(catalog)) {
      if (own.version === undefined) continue
      const covered = isInRange(own.version, range)
        ? own
        : its.ladder().find(range, { newerThan: own.version })
      if (covered === undefined) continue
      yield {
        at: toFindingLocation(channel.blob.place, entry.mark),
        about: [its.name, channel.blob.name, entry.name],
        data: {
          channel: channel.blob.name,
          entry: entry.name,
          version: own.versionText,
          skipRange: entry.skipRange,
          covered: covered.blob.name,
        },
      }
    }
  },
})
