import { defineRule } from '@catalog-bot/findings/rule'

export const noUpdateGraph = defineRule<{ file: string }>({
  id: 'no-update-graph',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A package specifies its update graph mode',
  format: ({ file }) => ({
    what: `${file} does not set updateGraph`,
    why: "The default is `replaces-mode`, in which versions that don't replace another one get no upgrades.",
    fix: 'Set `updateGraph: replaces-mode` or `updateGraph: semver-mode`.',
  }),
})
