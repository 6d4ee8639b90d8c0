import { defineRule } from '../../../findings/rule.ts'
import { formatNameList } from '../name-list.ts'

export const fileOutsidePackages = defineRule<{ path: string; unblock: readonly string[] }>({
  id: 'outside-packages',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Files outside packages are merged by a maintainer, by hand',
  format: ({ path, unblock }) => ({
    what: `${path} is outside all packages`,
    why: 'Workflows, configuration and owner lists affect everybody, so the bot never merges a change to them.',
    fix: `Put it into a pull request of its own, which ${formatNameList(unblock)} merges by hand.`,
  }),
})
