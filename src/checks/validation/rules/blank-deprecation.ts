// A deprecation message of blanks. opm refuses only the empty one.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

export const blankDeprecation = defineRule<{ schema: string; name: string }, CatalogRuleKind>({
  id: 'blank-deprecation',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Deprecations say something',
  format: ({ schema, name }) => ({
    what: `the deprecation of ${schema}${name === '' ? '' : ` "${name}"`} has a message of blanks only`,
    why: 'Clusters show the message to those who must act, and this one tells them nothing.',
    fix: 'Say what to use instead, and until when this is supported.',
  }),
  *find(catalog) {
    for (const { place, package: inPackage, entries } of catalog.catalog.deprecations)
      for (const { schema, name, message, mark } of entries)
        if (message !== '' && message.trim() === '')
          yield { at: toLocation(place, mark), about: [inPackage, schema, name], data: { schema, name } }
  },
})
