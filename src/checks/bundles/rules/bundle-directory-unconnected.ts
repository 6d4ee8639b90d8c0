import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryUnconnected = defineRule<{ name: string; channel: string; others: number }>({
  id: 'bundle-directory-unconnected',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle has an upgrade edge to the other bundles of its channel',
  format: ({ name, channel, others }) => ({
    what: `${name} neither replaces nor skips ${others === 1 ? 'the other bundle' : `any of the ${others} other bundles`} in the channel "${channel}"`,
    why: "In replaces-mode, only `replaces` and `skips` define upgrades, so users of other versions don't get this one.",
    fix: 'Set `replaces`, or put the bundle into a separate channel.',
  }),
})
