import { defineRule } from '../../../findings/rule.ts'
import { formatNameList } from '../name-list.ts'

export const ownerFileChange = defineRule<{
  path: string
  package: string
  change: string
  unblock: readonly string[]
}>({
  id: 'owner-file-change',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Nobody changes who owns a package alone',
  format: ({ path, package: name, change, unblock }) => ({
    what: `${path} changes who owns package ${name}: ${change}`,
    why: 'Ownership is handed on by those who have it, so that nobody grants it to themselves.',
    fix: `An approving review of this commit, or /approve, by ${formatNameList(unblock)}.`,
  }),
})
