import { maxIncomingCommits } from '../../../pull-request/incoming-commits.ts'
import { defineRule } from '@catalog-bot/findings/rule'

export const tooManyCommits = defineRule<object>({
  id: 'too-many-commits',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: `A pull request has at most ${maxIncomingCommits} commits`,
  format: () => ({
    what: `the pull request has more than ${maxIncomingCommits} commits, or more than catalog-bot can read`,
    why: 'GitHub does not list the rest, so reviewers cannot see everything that would remain in the history.',
    fix: 'Squash the commits. If most of them are not yours, rebase onto the base branch.',
  }),
})
