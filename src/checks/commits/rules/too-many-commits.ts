import { maxIncomingCommits } from '../../../change/incoming-commits.ts'
import { defineRule } from '../../../findings/rule.ts'

export const tooManyCommits = defineRule<object>({
  id: 'too-many-commits',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: `A pull request brings at most ${maxIncomingCommits} commits`,
  format: () => ({
    what: `the pull request brings more than ${maxIncomingCommits} commits, or more than can be looked at`,
    why: 'GitHub lists no more of them, so nobody could see what lands; and all of them stay for ever.',
    fix: 'Squash the commits, or rebase onto the base branch if most of them are not yours.',
  }),
})
