import { defineRule } from '@catalog-bot/findings/rule'

export const oversizedFileInHistory = defineRule<{ blob: string }>({
  id: 'oversized-file-in-history',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No commit contains a file larger than 100 MiB',
  format: ({ blob }) => ({
    what: `the commits contain a file larger than 100 MiB: ${blob}`,
    why: 'GitHub rejects every push that contains such a file, even if a later commit removes it.',
    fix: `Squash the commits into one commit without the file. To find the file, run \`git log --find-object=${blob}\`.`,
  }),
})
