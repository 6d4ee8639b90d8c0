// The default channel is deprecated but the package is not. Users who do not choose a channel get a deprecated one.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

export const deprecatedDefaultChannel = defineRule<{ channel: string; others: number }, CatalogRuleSignature>(
  {
    id: 'deprecated-default-channel',
    check: 'validation',
    overridable: true,
    judges: 'catalog',
    severity: 'warning',
    since: '0.1.0',
    title: 'The default channel is not deprecated',
    format: ({ channel, others }) => ({
      what: `the default channel "${channel}" is deprecated`,
      why: 'New subscribers who do not choose a channel get the deprecated one.',
      fix:
        others > 0
          ? 'Make another channel the default.'
          : 'Add a channel that is not deprecated, or deprecate the whole package.',
    }),
    *find(catalog) {
      for (const its of catalog.packages) {
        if (its.blob === undefined || its.isDeprecated('olm.package', '')) continue
        const channel = its.blob.defaultChannel
        for (const { place, entries } of its.deprecations) {
          for (const { schema, name, mark } of entries) {
            if (schema !== 'olm.channel' || name !== channel) continue
            const others = its.channels.filter(
              ({ blob }) => !its.isDeprecated('olm.channel', blob.name),
            ).length
            yield {
              at: toFindingLocation(place, mark),
              about: [its.name, channel],
              data: { channel, others },
            }
          }
        }
      }
    },
  },
)
