import { defineRule } from '@catalog-bot/findings/rule'

export const executableFile = defineRule<{ path: string }>({
  id: 'executable-file',
  check: 'ownership',
  judges: 'pull request',
  severity: 'info',
  since: '0.1.0',
  title: 'Package files are not executable',
  format: ({ path }) => ({
    what: `${path} would be executable (mode 100755)`,
    why: 'No tool runs the files of a package, so the executable bit has no effect.',
    fix: 'Optionally, remove the bit with `git update-index --chmod=-x`.',
  }),
})
