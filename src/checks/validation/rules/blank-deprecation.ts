// A deprecation message that contains only whitespace. opm rejects only an empty message.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

export const blankDeprecation = defineRule<{ schema: string; name: string }, CatalogRuleSignature>({
  id: 'blank-deprecation',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every deprecation has a message',
  format: ({ schema, name }) => ({
    what: `the deprecation of ${schema}${name === '' ? '' : ` "${name}"`} has a message that contains only whitespace`,
    why: 'Users see this message on their clusters, but it does not explain what they must do.',
    fix: 'State what to use instead and how long the deprecated item will be supported.',
  }),
  *find(catalog) {
    for (const { place, package: inPackage, entries } of catalog.catalog.deprecations)
      for (const { schema, name, message, mark } of entries)
        if (message !== '' && message.trim() === '')
          yield {
            at: toFindingLocation(place, mark),
            about: [inPackage, schema, name],
            data: { schema, name },
          }
  },
})
