import { defineRule } from '../../../findings/rule.ts'
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
  title: 'Whoever changes a package owns it, or an owner agrees',
  format: ({ path, package: name, author, owners, unblock }) => ({
    what: `${path} belongs to package ${name}, which ${author} does not own; ${
      owners.length > 0 ? `its owners are ${formatNameList(owners)}` : 'nobody is listed as its owner'
    }`,
    why: 'Clusters install what the catalog says, so only those who answer for a package change it.',
    fix: `An approving review of this commit, or /approve, by ${formatNameList(unblock)}.`,
  }),
})
