// Another default channel: who installs without naming one gets another line of updates than before.
import { packagePlace, upgradeRule } from './upgrade-rule.ts'

export const defaultChannelChanged = upgradeRule<{ before: string; after: string }>({
  id: 'default-channel-changed',
  severity: 'warning',
  since: '0.1.0',
  title: "A package's default channel stays",
  say: ({ before, after }) => ({
    what: `the default channel changes from "${before}" to "${after}"`,
    why: 'New installations that name no channel follow another line from now on; existing ones stay where they are.',
    fix: 'Make sure that this is meant, and say so in the pull request.',
  }),
  *find({ defaultChannel }, sides) {
    if (defaultChannel) yield { at: packagePlace(sides), about: [], data: defaultChannel }
  },
})
