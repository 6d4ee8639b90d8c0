import { defineRule } from '../../../findings/rule.ts'

export const executableFile = defineRule<{ path: string }>({
  id: 'executable-file',
  check: 'ownership',
  judges: 'pull request',
  severity: 'info',
  since: '0.1.0',
  title: 'Files of packages are not executable',
  format: ({ path }) => ({
    what: `${path} would be executable (mode 100755)`,
    why: 'Its content is what counts, and nothing runs it: this is a note.',
    fix: 'Take the bit away with git update-index --chmod=-x, if you like.',
  }),
})
