import { defineRule } from '@catalog-bot/findings/rule'
import { formatNameList } from '../name-list.ts'

export const fileOutsidePackages = defineRule<{ path: string; unblock: readonly string[] }>({
  id: 'outside-packages',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A maintainer merges changes to files outside packages manually',
  format: ({ path, unblock }) => ({
    what: `${path} is outside all packages`,
    why: 'Workflows, configuration, and owner lists affect the whole repository, so catalog-bot never merges changes to them.',
    fix: `Move the change to a separate pull request, and ask ${formatNameList(unblock)} to merge it manually.`,
  }),
})
