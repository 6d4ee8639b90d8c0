import { defineRule } from '../../../findings/rule.ts'

export const ownerSourceBroken = defineRule<{ path: string; problem: string }>({
  id: 'owner-source-broken',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The owner files of the base branch can be read, whole',
  say: ({ path, problem }) => ({
    what: `on the base branch, ${path} cannot be read as an owner file: ${problem}`,
    why: 'What is read by half may leave out the line that takes rights away, so the file gives nobody authority.',
    fix: 'A maintainer corrects the file on the base branch; until then other sources and maintainers decide.',
  }),
})
