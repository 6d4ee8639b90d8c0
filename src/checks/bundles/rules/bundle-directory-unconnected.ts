import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectoryUnconnected = defineRule<{ name: string; channel: string; others: number }>({
  id: 'bundle-directory-unconnected',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle leads on from the bundles of its channel',
  format: ({ name, channel, others }) => ({
    what: `${name} neither replaces nor skips any of the ${others === 1 ? 'other bundle' : `${others} other bundles`} of the channel "${channel}"`,
    why: 'In replaces-mode only `replaces` and `skips` lead to a new version: nobody who installed another one gets this.',
    fix: 'Name what it replaces, or put it into a channel of its own.',
  }),
})
