// A channel name that differs from another only by case or blanks, or that people cannot type as they see it.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

export const confusingChannelName = defineRule<
  {
    channel: string
    trap: 'blanks' | 'invisible' | 'twin'
    twin: string
  },
  CatalogRuleKind
>({
  id: 'channel-name-trap',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Channel names can be told apart and typed as they are seen',
  format: ({ channel, trap, twin }) => ({
    what: {
      blanks: `the channel name "${channel}" has blanks in it`,
      invisible: `the channel name ${JSON.stringify(channel)} has characters that cannot be seen`,
      twin: `the channel names "${channel}" and "${twin}" differ only by upper and lower case`,
    }[trap],
    why: 'People type the channel into a Subscription by hand, and the wrong one gives no error but waits for ever.',
    fix: 'Use a name of letters, digits, dots and dashes that no other channel of the package resembles.',
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
            at: toLocation(blob.place),
            about: [its.name, channel],
            data: { channel, trap, twin: similarChannel ?? '' },
          }
      }
    }
  },
})
