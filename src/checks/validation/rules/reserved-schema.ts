// A custom schema with a prefix that is reserved for OLM.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { suggestKnownSchema } from './misspelt-schema.ts'
import { isTemplateSchemaName } from './template-in-catalog.ts'

export const reservedSchema = defineRule<{ schema: string }, CatalogRuleSignature>({
  id: 'reserved-schema',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Custom schemas do not use the prefix "olm."',
  format: ({ schema }) => ({
    what: `the schema "${schema}" uses the prefix "olm.", which is reserved for OLM`,
    why: 'A later opm release might define this name and then read or reject the blob.',
    fix: 'Use your own prefix, such as a domain name.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others)
      if (/^olm\./i.test(schema) && !isTemplateSchemaName(schema) && suggestKnownSchema(schema) === undefined)
        yield { at: toFindingLocation(place), about: [inPackage, schema, name], data: { schema } }
  },
})
