import type { ClosedPull } from '../../../change/incoming-commits.ts'
import { defineRule } from '../../../findings/rule.ts'

export const mergesOtherPull = defineRule<{ pull: number; by: ClosedPull['by']; isKept: boolean }>({
  id: 'lands-other-pull',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A pull request lands alone',
  format: ({ pull, by, isKept }) => ({
    what:
      by === 'words'
        ? `a commit message closes pull request ${pull}`
        : `pull request ${pull} is contained in this one${isKept ? '' : ', but not all of its content'}`,
    why:
      by === 'words'
        ? 'GitHub closes it when this one lands.'
        : 'GitHub marks both as merged when this one lands.',
    fix: 'Nothing, if that is meant. Otherwise rebase, so that the commits of the other one are not among these.',
  }),
})
