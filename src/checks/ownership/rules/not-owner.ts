import { defineRule } from '@catalog-bot/findings/rule'
import { formatNameList } from '../name-list.ts'

export const notOwner = defineRule<{
  path: string
  package: string
  author: string
  owners: readonly string[]
  unblock: readonly string[]
}>({
  id: 'not-owner',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'An owner makes or approves every change to a package',
  format: ({ path, package: name, author, owners, unblock }) => ({
    what: `${path} belongs to package ${name}, ${
      owners.length > 0
        ? `and ${author} is not one of its owners (${formatNameList(owners, 'and')})`
        : 'which has no listed owner'
    }`,
    why: 'Clusters install what the catalog declares, so an owner or a maintainer must approve changes by other authors.',
    fix: `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
  }),
})
