import { defineRule } from '../../../findings/rule.ts'
import { formatMoreSuffix } from '../format-more.ts'

export const unreadableCommit = defineRule<{ commit: string; more: number }>({
  id: 'unreadable-commit',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every commit message is text in UTF-8, and no commit is larger than 256 KiB',
  format: ({ commit, more }) => ({
    what: `the message of commit ${commit.slice(0, 12)}${formatMoreSuffix(more)} is too large, or not in UTF-8`,
    why: 'What a message says, such as which pull requests it closes, must be the same for everybody.',
    fix: 'Reword the commit.',
  }),
})
