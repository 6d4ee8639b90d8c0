import { defineRule } from '../../../findings/rule.ts'

export const noUpdateGraph = defineRule<{ file: string }>({
  id: 'no-update-graph',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A package says how its upgrades are found',
  format: ({ file }) => ({
    what: `${file} has no updateGraph`,
    why: 'Without it `replaces-mode` is taken: versions that replace nothing have no upgrades.',
    fix: 'Write `updateGraph: replaces-mode` or `updateGraph: semver-mode`.',
  }),
})
