import { defineRule } from '@catalog-bot/findings/rule'
import { formatOmittedCountSuffix } from '../format-more.ts'

export const unsignedCommit = defineRule<{ commit: string; more: number }>({
  id: 'unsigned-commit',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every commit is signed if the base branch requires it',
  format: ({ commit, more }) => ({
    what: `the signature of commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} is missing`,
    why: 'The base branch requires signed commits, so GitHub rejects the push.',
    fix: 'Sign each commit while rebasing onto the base branch: `git rebase --exec "git commit --amend --no-edit -S"`.',
  }),
})
