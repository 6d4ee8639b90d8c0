import type { PullClosedByPush } from '../../../pull-request/incoming-commits.ts'
import { defineRule } from '@catalog-bot/findings/rule'

export const mergesOtherPull = defineRule<{ pull: number; by: PullClosedByPush['by']; isKept: boolean }>({
  id: 'lands-other-pull',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A pull request does not include another open pull request',
  format: ({ pull, by, isKept }) => ({
    what:
      by === 'words'
        ? `a commit message closes pull request ${pull}`
        : `the commits contain pull request ${pull}${isKept ? '' : ', but not all of its changes'}`,
    why:
      by === 'words'
        ? 'GitHub closes that pull request when this one is merged.'
        : 'GitHub marks both pull requests as merged when this one is merged.',
    fix:
      by === 'words'
        ? 'If this is not intentional, reword the commit message.'
        : 'If this is not intentional, rebase to drop the commits of the other pull request.',
  }),
})
