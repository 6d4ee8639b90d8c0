import { defineRule } from '@catalog-bot/findings/rule'

export const suspiciousPath = defineRule<{ path: string; problem: string }>({
  id: 'odd-path',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Paths are short, simple, and unambiguous',
  format: ({ path, problem }) => ({
    what: `${JSON.stringify(path)} is not a valid path in a catalog: ${problem}`,
    why: 'If two programs read a path differently, it is unclear who owns the file.',
    fix: 'Rename it. Use only letters, digits, dots, hyphens, and underscores, and write package names in lowercase.',
  }),
})
