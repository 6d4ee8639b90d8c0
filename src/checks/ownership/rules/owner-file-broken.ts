import { defineRule } from '@catalog-bot/findings/rule'

export const ownerFileBroken = defineRule<{ path: string; problem: string }>({
  id: 'owner-file-broken',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A changed owner file is valid',
  format: ({ path, problem }) => ({
    what: `the owner file ${path} is invalid after this change: ${problem}`,
    why: 'An invalid owner file grants no permissions, so no owner could change the package.',
    fix: 'Correct the file.',
  }),
})
