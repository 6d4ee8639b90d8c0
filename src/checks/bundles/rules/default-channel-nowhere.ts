import { defineRule } from '../../../findings/rule.ts'

export const missingDefaultChannel = defineRule<{ channel: string; channels: readonly string[] }>({
  id: 'default-channel-nowhere',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The default channel of a package has bundles',
  format: ({ channel, channels }) => ({
    what: `the default channel "${channel}" has no bundle; there are ${channels.slice(0, 5).join(', ')}`,
    why: 'Those who do not choose a channel are subscribed to it, and get nothing.',
    fix: 'Name one of the channels, or put the bundle into this one.',
  }),
})
