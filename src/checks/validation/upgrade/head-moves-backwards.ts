import { defineRule } from '@catalog-bot/findings/rule'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { toFindingLocation } from '../catalog-rule.ts'
import { findBundleVersionByName, type UpgradeRuleSignature } from './upgrade-rule.ts'

export const headMovesBackwards = defineRule<
  {
    channel: string
    before: string
    after: string
    versions: readonly [before: string, after: string]
  },
  UpgradeRuleSignature
>({
  id: 'head-moves-backwards',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: "A channel's head never moves to an older version",
  format: ({ channel, before, after, versions }) => ({
    what: `the head of channel "${channel}" moves back from ${before} (${versions[0]}) to ${after} (${versions[1]})`,
    why: 'New installations get an older version, but clusters with the newer version keep it because OLM does not downgrade.',
    fix: 'Publish the correction as a newer version. Keep the withdrawn version in the channel, and make the new head skip it.',
  }),
  *find({ channels }, sides) {
    for (const { name: channel, head } of channels.changed) {
      const { before, after } = head
      if (before === undefined || after === undefined || before === after) continue
      const old = findBundleVersionByName(before, sides)
      const now = findBundleVersionByName(after, sides)
      const blob = sides.result?.channel(channel)
      if (!old || !now || !blob || compareVersions(now, old) >= 0) continue
      const text = (name: string) => sides.result?.versions.get(name) ?? sides.base?.versions.get(name) ?? ''
      yield {
        at: toFindingLocation(blob.place, blob.entries.find(({ name }) => name === after)?.mark),
        about: [channel],
        data: { channel, before, after, versions: [text(before), text(after)] },
      }
    }
  },
})
