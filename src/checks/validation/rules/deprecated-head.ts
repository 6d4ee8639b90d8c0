// A deprecated bundle at the head of a channel that is not deprecated: every new installation starts deprecated.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

export const deprecatedHead = defineRule<{ bundle: string; channels: readonly string[] }, CatalogRuleKind>({
  id: 'deprecated-head',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A channel in use does not end in a deprecated bundle',
  format: ({ bundle, channels }) => ({
    what: `${bundle} is deprecated and is still the head of ${channels.map((name) => `"${name}"`).join(', ')}`,
    why: 'Whoever subscribes gets a deprecated version, and nobody there can leave it by upgrading.',
    fix: 'Add a successor, or deprecate the channel (or the package) as well.',
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
          yield { at: toLocation(place, mark), about: [its.name, name], data: { bundle: name, channels } }
        }
      }
    }
  },
})
