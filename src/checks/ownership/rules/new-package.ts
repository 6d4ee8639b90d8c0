import { defineRule } from '@catalog-bot/findings/rule'
import { formatNameList } from '../name-list.ts'

export const newPackage = defineRule<{ path: string; package: string; unblock: readonly string[] }>({
  id: 'new-package',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A maintainer approves a new package and its first owners',
  format: ({ path, package: name, unblock }) => ({
    what: `${path} adds package ${name}, which the base branch does not have`,
    why: 'A package name can be claimed only once, so a maintainer decides who owns it.',
    fix: `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
  }),
})
