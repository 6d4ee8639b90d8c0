// A channel name that differs from another only in case, or that users cannot type as displayed.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

export const confusingChannelName = defineRule<
  {
    channel: string
    trap: 'blanks' | 'invisible' | 'twin'
    twin: string
  },
  CatalogRuleSignature
>({
  id: 'channel-name-trap',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Channel names are distinct and can be typed as displayed',
  format: ({ channel, trap, twin }) => ({
    what: {
      blanks: `the channel name "${channel}" contains whitespace`,
      invisible: `the channel name ${JSON.stringify(channel)} contains invisible characters`,
      twin: `the channel names "${channel}" and "${twin}" differ only in case`,
    }[trap],
    why: 'Users type the channel name into a Subscription by hand. If the name is wrong, the Subscription reports no error and waits forever.',
    fix: 'Use only letters, digits, dots, and dashes, and choose a name that does not resemble another channel of the package.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      const seen = new Map<string, string>()
      for (const { blob } of its.channels) {
        const channel = blob.name
        const similarChannel = seen.get(channel.toLowerCase())
        seen.set(channel.toLowerCase(), channel)
        const trap = /[\p{C}\u2028\u2029]/u.test(channel)
          ? 'invisible'
          : /\s/u.test(channel)
            ? 'blanks'
            : similarChannel !== undefined && similarChannel !== channel
              ? 'twin'
              : undefined
        if (trap !== undefined)
          yield {
            at: toFindingLocation(blob.place),
            about: [its.name, channel],
            data: { channel, trap, twin: similarChannel ?? '' },
          }
      }
    }
  },
})
