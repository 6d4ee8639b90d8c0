import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectoryUpgradeLoop = defineRule<{ loop: readonly string[] }>({
  id: 'bundle-directory-upgrade-loop',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No bundle replaces itself over others',
  format: ({ loop }) => ({
    what: `the upgrades go in a circle: ${loop.slice(0, 5).join(' replaces ')}${loop.length > 5 ? ' replaces …' : ''}`,
    why: 'A channel with a circle has no head, and nobody can install from it.',
    fix: 'Take one of the edges out.',
  }),
})
