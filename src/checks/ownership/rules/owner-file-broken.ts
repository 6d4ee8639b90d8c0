import type { Rule } from '../../../findings/rule.ts'

export const ownerFileBroken: Rule<{ path: string; problem: string }> = {
  id: 'owner-file-broken',
  check: 'ownership',
  severity: 'error',
  title: 'A changed owner file can be read, whole',
  say: ({ path, problem }) => ({
    what: `${path} could not be read as an owner file after this change: ${problem}`,
    why: 'An owner file that is not understood gives nobody authority: the package would be locked.',
    fix: 'Correct the file.',
  }),
}
