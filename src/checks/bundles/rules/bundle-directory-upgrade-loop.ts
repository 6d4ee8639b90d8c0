import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryUpgradeLoop = defineRule<{ loop: readonly string[] }>({
  id: 'bundle-directory-upgrade-loop',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The upgrade graph has no cycles',
  format: ({ loop }) => ({
    what: `the upgrades form a cycle: ${loop.slice(0, 5).join(' replaces ')}${loop.length > 5 ? ' replaces …' : ''}`,
    why: "A channel with a cycle has no head, so it can't be used for installations.",
    fix: 'Remove one of the replaces edges.',
  }),
})
