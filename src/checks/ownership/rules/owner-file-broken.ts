import { defineRule } from '../../../findings/rule.ts'

export const ownerFileBroken = defineRule<{ path: string; problem: string }>({
  id: 'owner-file-broken',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A changed owner file can be read, whole',
  format: ({ path, problem }) => ({
    what: `${path} could not be read as an owner file after this change: ${problem}`,
    why: 'An owner file that is not understood gives nobody authority: the package would be locked.',
    fix: 'Correct the file.',
  }),
})
