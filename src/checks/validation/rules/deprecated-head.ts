// A deprecated bundle at the head of a channel that is not deprecated. Every new installation is deprecated from the
// start.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

export const deprecatedHead = defineRule<
  { bundle: string; channels: readonly string[] },
  CatalogRuleSignature
>({
  id: 'deprecated-head',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'The head of a supported channel is not deprecated',
  format: ({ bundle, channels }) => ({
    what: `${bundle} is deprecated but is still the head of ${channels.map((name) => `"${name}"`).join(', ')}`,
    why: 'New subscribers get a deprecated version and cannot upgrade to a supported one.',
    fix: 'Add a successor, or deprecate the channel or the package as well.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      if (its.isDeprecated('olm.package', '')) continue
      for (const { place, entries } of its.deprecations) {
        for (const { schema, name, mark } of entries) {
          if (schema !== 'olm.bundle') continue
          const channels = its.channels
            .filter(({ blob, head }) => head?.name === name && !its.isDeprecated('olm.channel', blob.name))
            .map(({ blob }) => blob.name)
          if (channels.length === 0) continue
          yield {
            at: toFindingLocation(place, mark),
            about: [its.name, name],
            data: { bundle: name, channels },
          }
        }
      }
    }
  },
})
