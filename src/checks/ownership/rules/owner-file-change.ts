import { defineRule } from '@catalog-bot/findings/rule'
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
  title: 'A second person approves changes to the owners of a package',
  format: ({ path, package: name, change, unblock }) => ({
    what: `${path} changes who owns package ${name}: ${change}`,
    why: 'Without a second approval, authors could grant ownership to themselves.',
    fix: `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
  }),
})
