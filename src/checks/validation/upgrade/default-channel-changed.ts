// A changed default channel: new installations get other updates. Also reports whether the new channel continues the
// old one.
import { defineRule } from '../../../findings/rule.ts'
import { findBundlesReachingHead } from '../../../catalog/graph/upgrade-paths.ts'
import { analyzeUpgradeGraph } from '../../../catalog/graph/upgrade-graph.ts'
import {
  findPackageLocation,
  formatSomeNames,
  findBundleVersion,
  type BaseAndResult,
  type UpgradeRuleKind,
} from './upgrade-rule.ts'

export const defaultChannelChanged = defineRule<
  {
    before: string
    after: string
    /** Versions with a path to the old default channel's head but none in the new channel. */
    leftBehind: readonly string[]
  },
  UpgradeRuleKind
>({
  id: 'default-channel-changed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: "A package's default channel stays",
  format: ({ before, after, leftBehind }) => ({
    what: `the default channel changes from "${before}" to "${after}"${leftBehind.length === 0 ? '' : `, which has no way on from ${formatSomeNames(leftBehind)}`}`,
    why: 'Installations that name no channel follow another line from now on; those that name one stay where they are.',
    fix:
      leftBehind.length === 0
        ? 'Make sure that this is meant, and say so in the pull request.'
        : `Add to "${after}" what leads on from the versions of "${before}", or tell people in the pull request how they get there.`,
  }),
  *find({ defaultChannel }, sides) {
    if (!defaultChannel) return
    const stranded = findStrandedVersions(defaultChannel, sides)
    yield { at: findPackageLocation(sides), about: [], data: { ...defaultChannel, leftBehind: stranded } }
  },
})

function findStrandedVersions(
  { before, after }: { before: string; after: string },
  sides: BaseAndResult,
): string[] {
  const old = sides.base?.channel(before)
  const now = sides.result?.channel(after)
  // Without a head there is nothing to compare; opm's rules refuse such a channel.
  if (!old || !now || analyzeUpgradeGraph(now.entries).heads.length === 0) return []
  const installed = old.entries.map(({ name }) => {
    const version = findBundleVersion(name, sides)
    return version ? { name, version } : { name }
  })
  const can = findBundlesReachingHead(now.entries, installed)
  return [...findBundlesReachingHead(old.entries, installed)].filter((name) => !can.has(name))
}
