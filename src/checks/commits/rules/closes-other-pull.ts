import type { PullClosedByPush } from '../../../pull-request/incoming-commits.ts'
import { defineRule } from '@catalog-bot/findings/rule'

export const closesOtherPull = defineRule<{ pull: number; by: PullClosedByPush['by']; heldBack?: string }>({
  id: 'closes-other-pull',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "Merging a pull request does not close another author's pull request",
  format: ({ pull, by, heldBack }) => {
    if (by === 'words')
      return {
        what: `a commit message closes pull request ${pull} by another author`,
        why: 'GitHub closes that pull request as soon as the message reaches the default branch, without asking its author.',
        fix: 'Reword the commit message, or ask the author of the other pull request to close it first.',
      }
    const how = heldBack === undefined ? 'not all of its changes' : heldBack
    return {
      what: `the commits contain the head commit of pull request ${pull} by another author, but ${how}`,
      why: 'GitHub would mark that pull request as merged, and its author would have to open it again.',
      fix: 'Rebase or squash to drop its commits, or wait until it is merged or closed.',
    }
  },
})
