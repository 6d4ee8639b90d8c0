import { defineRule } from '@catalog-bot/findings/rule'

export const missingDefaultChannel = defineRule<{ channel: string; channels: readonly string[] }>({
  id: 'default-channel-nowhere',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The default channel of a package has bundles',
  format: ({ channel, channels }) => ({
    what: `the default channel "${channel}" has no bundles; existing channels: ${channels.slice(0, 5).join(', ')}`,
    why: "Users who don't choose a channel subscribe to the default channel and get nothing.",
    fix: 'Choose an existing channel, or add the bundle to the default channel.',
  }),
})
