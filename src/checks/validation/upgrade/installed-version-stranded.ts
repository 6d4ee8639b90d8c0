// Versions that lose their upgrade path to the channel's head. channel-removed covers removed channels.
import { defineRule } from '@catalog-bot/findings/rule'
import { analyzeUpgradeGraph, findBundlesReachingChannelHead } from '@catalog-bot/fbc/graph/upgrade-graph'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { toFindingLocation } from '../catalog-rule.ts'
import {
  formatTruncatedNameList,
  findBundleVersionByName,
  type UpgradeRuleSignature,
} from './upgrade-rule.ts'

export const installedVersionStranded = defineRule<
  {
    channel: string
    bundles: readonly string[]
    /** Bundles newer than every head: an older version must not replace them. */
    newer: readonly string[]
    head: string
  },
  UpgradeRuleSignature
>({
  id: 'installed-version-stranded',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every version keeps its upgrade path',
  format: ({ channel, bundles, newer, head }) => ({
    what: `${formatTruncatedNameList(bundles)} in channel "${channel}" no longer ${bundles.length === 1 ? 'has' : 'have'} an upgrade path to ${head}`,
    why: 'Clusters with these versions installed silently stop getting updates.',
    fix: [
      ...(newer.length < bundles.length
        ? [
            `Make ${head}, or an entry that leads to it, replace or skip these versions, or cover them with a skipRange.`,
          ]
        : []),
      ...(newer.length > 0
        ? [
            `Keep ${formatTruncatedNameList(newer)}, because an older version must not replace a newer one. Add an upgrade to a newer version, or deprecate ${newer.length === 1 ? 'it' : 'them'}.`,
          ]
        : []),
    ].join(' '),
  }),
  *find({ kind }, sides) {
    const { base, result } = sides
    if (kind !== 'changed' || !base || !result) return
    for (const after of result.channels) {
      const before = base.channel(after.name)
      const heads = analyzeUpgradeGraph(after.entries).heads
      // Without a head, nothing can be stranded. opm's rules reject such a channel.
      if (!before || heads.length === 0) continue
      // Only entries of the base can be installed from this channel, not names that edges mention.
      const installed = before.entries.map(({ name }) => {
        const version = findBundleVersionByName(name, sides)
        return version ? { name, version } : { name }
      })
      const could = findBundlesReachingChannelHead(before.entries, installed)
      const can = findBundlesReachingChannelHead(after.entries, installed)
      const stranded = [...could].filter((name) => !can.has(name))
      if (stranded.length === 0) continue
      const [first] = heads
      const head = heads.length === 1 && first !== undefined ? first : `a head (${heads.join(', ')})`
      const newest = heads.map((name) => findBundleVersionByName(name, sides))
      const newer = stranded.filter((name) => {
        const version = findBundleVersionByName(name, sides)
        return version && newest.every((other) => other && compareVersions(version, other) > 0)
      })
      const entry = after.entries.find(({ name }) => name === first)
      yield {
        at: toFindingLocation(after.place, entry?.mark),
        about: [after.name],
        data: { channel: after.name, bundles: stranded, newer, head },
      }
    }
  },
})
