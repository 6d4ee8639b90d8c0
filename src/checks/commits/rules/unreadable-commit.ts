import { defineRule } from '@catalog-bot/findings/rule'
import { formatOmittedCountSuffix } from '../format-more.ts'

export const unreadableCommit = defineRule<{ commit: string; more: number }>({
  id: 'unreadable-commit',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every commit has a UTF-8 message and is no larger than 256 KiB',
  format: ({ commit, more }) => ({
    what: `the message of commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} is too large or is not valid UTF-8`,
    why: 'Tools can interpret such a message differently, so they can disagree about which pull requests it closes.',
    fix: 'Reword the commit message in UTF-8, and keep it short.',
  }),
})
