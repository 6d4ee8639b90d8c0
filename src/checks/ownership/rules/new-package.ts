import { defineRule } from '../../../findings/rule.ts'
import { formatNameList } from '../name-list.ts'

export const newPackage = defineRule<{ path: string; package: string; unblock: readonly string[] }>({
  id: 'new-package',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A new package and its first owners are agreed to by a maintainer',
  format: ({ path, package: name, unblock }) => ({
    what: `${path} adds package ${name}, which the base branch does not have`,
    why: 'A name is taken once: a maintainer decides who gets it and who owns it.',
    fix: `An approving review of this commit, or /approve, by ${formatNameList(unblock)}.`,
  }),
})
