// A changed default channel: new installations get other updates. Also reports whether the new channel continues the
// old one.
import { defineRule } from '../../../findings/rule.ts'
import { reachingHead } from '../../../catalog/graph/upgrade-paths.ts'
import { upgradeGraph } from '../../../catalog/graph/upgrade-graph.ts'
import { packagePlace, someOf, versionOf, type BothSides, type OfChange } from './upgrade-rule.ts'

export const defaultChannelChanged = defineRule<
  {
    before: string
    after: string
    /** Versions with a path to the old default channel's head but none in the new channel. */
    leftBehind: readonly string[]
  },
  OfChange
>({
  id: 'default-channel-changed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: "A package's default channel stays",
  say: ({ before, after, leftBehind }) => ({
    what: `the default channel changes from "${before}" to "${after}"${leftBehind.length === 0 ? '' : `, which has no way on from ${someOf(leftBehind)}`}`,
    why: 'Installations that name no channel follow another line from now on; those that name one stay where they are.',
    fix:
      leftBehind.length === 0
        ? 'Make sure that this is meant, and say so in the pull request.'
        : `Add to "${after}" what leads on from the versions of "${before}", or tell people in the pull request how they get there.`,
  }),
  *find({ defaultChannel }, sides) {
    if (!defaultChannel) return
    const leftBehind = namesLeftBehind(defaultChannel, sides)
    yield { at: packagePlace(sides), about: [], data: { ...defaultChannel, leftBehind } }
  },
})

function namesLeftBehind({ before, after }: { before: string; after: string }, sides: BothSides): string[] {
  const old = sides.base?.channel(before)
  const now = sides.result?.channel(after)
  // Without a head there is nothing to compare; opm's rules refuse such a channel.
  if (!old || !now || upgradeGraph(now.entries).heads.length === 0) return []
  const installed = old.entries.map(({ name }) => {
    const version = versionOf(name, sides)
    return version ? { name, version } : { name }
  })
  const can = reachingHead(now.entries, installed)
  return [...reachingHead(old.entries, installed)].filter((name) => !can.has(name))
}
