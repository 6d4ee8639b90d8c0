import { defineRule } from '../../../findings/rule.ts'

export const ownerSourceBroken = defineRule<{ path: string; problem: string }>({
  id: 'owner-source-broken',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The owner files of the base branch can be read, whole',
  format: ({ path, problem }) => ({
    what: `on the base branch, ${path} cannot be read as an owner file: ${problem}`,
    why: 'A file that is only partly understood may hide a line that takes rights away, so it gives nobody authority.',
    fix: 'A maintainer corrects the file on the base branch; until then other sources and maintainers decide.',
  }),
})
