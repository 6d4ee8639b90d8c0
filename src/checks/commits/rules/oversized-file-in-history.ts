import { defineRule } from '../../../findings/rule.ts'

export const oversizedFileInHistory = defineRule<{ blob: string }>({
  id: 'oversized-file-in-history',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No commit has a file above 100 MiB',
  format: ({ blob }) => ({
    what: `a file of the history is larger than 100 MiB: ${blob}`,
    why: 'GitHub refuses every push with such a file, also where a later commit removes it.',
    fix: `Squash the commits into one without it. \`git log --find-object=${blob}\` shows where it is.`,
  }),
})
