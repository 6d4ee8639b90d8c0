import type { ClosedPull } from '../../../change/incoming-commits.ts'
import { defineRule } from '../../../findings/rule.ts'

export const closesOtherPull = defineRule<{ pull: number; by: ClosedPull['by']; heldBack?: string }>({
  id: 'closes-other-pull',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "Nobody closes somebody else's pull request by landing their own",
  format: ({ pull, by, heldBack }) => {
    if (by === 'words')
      return {
        what: `a commit message says that it closes pull request ${pull}, which is somebody else's`,
        why: 'GitHub closes it as soon as the message is on the default branch, and its author was not asked.',
        fix: 'Reword the commit, or let the author of the other pull request close it first.',
      }
    const how = heldBack === undefined ? 'without all of its content' : `though ${heldBack}`
    return {
      what: `the commits contain the head of pull request ${pull}, which is somebody else's, ${how}`,
      why: 'GitHub would mark that pull request as merged, and its author would have to open it anew.',
      fix: `Rebase or squash, so that its commits are not among these; or wait until it is merged or closed.`,
    }
  },
})
