// A changed default channel: new installations get different updates. Also reports whether the new channel continues
// the old one.
import { defineRule } from '@catalog-bot/findings/rule'
import { analyzeUpgradeGraph, findBundlesReachingChannelHead } from '@catalog-bot/fbc/graph/upgrade-graph'
import {
  findPackageLocation,
  formatTruncatedNameList,
  findBundleVersionByName,
  type BaseAndResultPackage,
  type UpgradeRuleSignature,
} from './upgrade-rule.ts'

export const defaultChannelChanged = defineRule<
  {
    before: string
    after: string
    /** Versions with a path to the old default channel's head but none in the new channel. */
    leftBehind: readonly string[]
  },
  UpgradeRuleSignature
>({
  id: 'default-channel-changed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: "A package's default channel does not change",
  format: ({ before, after, leftBehind }) => ({
    what: `the default channel changes from "${before}" to "${after}"${leftBehind.length === 0 ? '' : `, which has no upgrade path from ${formatTruncatedNameList(leftBehind)}`}`,
    why: 'Installations that do not specify a channel switch to the new one. Installations that specify a channel are not affected.',
    fix:
      leftBehind.length === 0
        ? 'Make sure that the change is intentional, and explain it in the pull request.'
        : `Add an upgrade path from the versions of "${before}" to "${after}", or explain in the pull request how users can upgrade.`,
  }),
  *find({ defaultChannel }, sides) {
    if (!defaultChannel) return
    const stranded = findStrandedVersions(defaultChannel, sides)
    yield { at: findPackageLocation(sides), about: [], data: { ...defaultChannel, leftBehind: stranded } }
  },
})

function findStrandedVersions(
  { before, after }: { before: string; after: string },
  sides: BaseAndResultPackage,
): string[] {
  const old = sides.base?.channel(before)
  const now = sides.result?.channel(after)
  // Without a head, there is nothing to compare. opm's rules reject such a channel.
  if (!old || !now || analyzeUpgradeGraph(now.entries).heads.length === 0) return []
  const installed = old.entries.map(({ name }) => {
    const version = findBundleVersionByName(name, sides)
    return version ? { name, version } : { name }
  })
  const can = findBundlesReachingChannelHead(now.entries, installed)
  return [...findBundlesReachingChannelHead(old.entries, installed)].filter((name) => !can.has(name))
}
