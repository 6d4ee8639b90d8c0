import { defineRule } from '../../../findings/rule.ts'

export const suspiciousPath = defineRule<{ path: string; problem: string }>({
  id: 'odd-path',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Paths are short, plain and mean the same everywhere',
  format: ({ path, problem }) => ({
    what: `${JSON.stringify(path)} is not a usable path for a catalog: ${problem}`,
    why: 'A path that two programs read differently belongs to two people.',
    fix: 'Rename it: letters, digits, dots, hyphens and underscores; a package name in lower case.',
  }),
})
