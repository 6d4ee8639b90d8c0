import { defineRule } from '../../../findings/rule.ts'
import { formatMoreSuffix } from '../format-more.ts'

export const unsignedCommit = defineRule<{ commit: string; more: number }>({
  id: 'unsigned-commit',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every commit is signed where the base branch demands it',
  format: ({ commit, more }) => ({
    what: `a signature is missing: that of commit ${commit.slice(0, 12)}${formatMoreSuffix(more)}`,
    why: 'The rules of the base branch demand signed commits: GitHub refuses the push because of each that is not.',
    fix: 'Sign the commits: `git rebase --exec "git commit --amend --no-edit -S"` onto the base branch.',
  }),
})
