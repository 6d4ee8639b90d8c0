// A schema that is a typo away from one that opm reads. opm keeps such a blob but does not read it.
import { defineRule } from '@catalog-bot/findings/rule'
import { fieldShapesByBlobSchema } from '@catalog-bot/fbc/load/find-leniencies'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { findSimilarName } from '../similar-name.ts'
import { isTemplateSchemaName } from './template-in-catalog.ts'

export const misspelledSchema = defineRule<{ schema: string; known: string }, CatalogRuleSignature>({
  id: 'misspelt-schema',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Schema names are spelled correctly',
  format: ({ schema, known }) => ({
    what: `opm does not recognize the schema "${schema}" (did you mean "${known}"?)`,
    why: 'Schema names are case-sensitive, and opm keeps a blob with an unknown schema but never reads it.',
    fix: `Change the schema to "${known}".`,
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const known = suggestKnownSchema(schema)
      if (known !== undefined)
        yield { at: toFindingLocation(place), about: [inPackage, schema, name], data: { schema, known } }
    }
  },
})

/** The intended schema, for a misspelled one. */
export function suggestKnownSchema(schema: string): string | undefined {
  return isTemplateSchemaName(schema)
    ? undefined
    : findSimilarName(schema, Object.keys(fieldShapesByBlobSchema))
}
