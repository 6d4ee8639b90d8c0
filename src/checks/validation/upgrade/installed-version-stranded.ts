// Versions that lose their upgrade path to the channel's head. channel-removed covers removed channels.
import { defineRule } from '../../../findings/rule.ts'
import { findBundlesReachingHead } from '../../../catalog/graph/upgrade-paths.ts'
import { analyzeUpgradeGraph } from '../../../catalog/graph/upgrade-graph.ts'
import { compareVersions } from '../../../catalog/versions/version.ts'
import { toLocation } from '../catalog-rule.ts'
import { formatSomeNames, findBundleVersion, type UpgradeRuleKind } from './upgrade-rule.ts'

export const installedVersionStranded = defineRule<
  {
    channel: string
    bundles: readonly string[]
    /** Bundles newer than every head: an older version must not replace them. */
    newer: readonly string[]
    head: string
  },
  UpgradeRuleKind
>({
  id: 'installed-version-stranded',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every version that could be upgraded still can be',
  format: ({ channel, bundles, newer, head }) => ({
    what: `in channel "${channel}" ${formatSomeNames(bundles)} ${bundles.length === 1 ? 'has' : 'have'} no way to ${head} any more`,
    why: 'Clusters with these versions installed stop getting updates, silently.',
    fix: [
      ...(newer.length < bundles.length
        ? [`Let ${head}, or an entry that leads to it, replace or skip them, or cover them by a skipRange.`]
        : []),
      ...(newer.length > 0
        ? [
            `Keep ${formatSomeNames(newer)}, which nothing older should replace, and lead on from there to a newer version, or deprecate it.`,
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
      // Without a head nothing can be stranded; opm's rules refuse such a channel.
      if (!before || heads.length === 0) continue
      // Only entries of the base can be installed from this channel, not names that edges mention.
      const installed = before.entries.map(({ name }) => {
        const version = findBundleVersion(name, sides)
        return version ? { name, version } : { name }
      })
      const could = findBundlesReachingHead(before.entries, installed)
      const can = findBundlesReachingHead(after.entries, installed)
      const stranded = [...could].filter((name) => !can.has(name))
      if (stranded.length === 0) continue
      const [first] = heads
      const head = heads.length === 1 && first !== undefined ? first : `a head (${heads.join(', ')})`
      const newest = heads.map((name) => findBundleVersion(name, sides))
      const newer = stranded.filter((name) => {
        const version = findBundleVersion(name, sides)
        return version && newest.every((other) => other && compareVersions(version, other) > 0)
      })
      const entry = after.entries.find(({ name }) => name === first)
      yield {
        at: toLocation(after.place, entry?.mark),
        about: [after.name],
        data: { channel: after.name, bundles: stranded, newer, head },
      }
    }
  },
})
