import { defineRule } from '@catalog-bot/findings/rule'

export const ownerSourceBroken = defineRule<{ path: string; problem: string }>({
  id: 'owner-source-broken',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The owner files on the base branch are valid',
  format: ({ path, problem }) => ({
    what: `the owner file ${path} on the base branch is invalid: ${problem}`,
    why: 'A partially parsed file might hide a line that revokes permissions, so catalog-bot ignores the whole file.',
    fix: 'Ask a maintainer to correct the file on the base branch. Until then, maintainers and the owners in other files can approve.',
  }),
})
