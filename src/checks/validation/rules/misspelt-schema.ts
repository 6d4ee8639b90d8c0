// A schema that is a typo away from one that opm reads. opm keeps such a blob unread.
import { defineRule } from '../../../findings/rule.ts'
import { blobShapes } from '../../../catalog/load/known-fields.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { findSimilarName } from '../similar-name.ts'
import { isTemplateSchemaName } from './template-in-catalog.ts'

export const misspelledSchema = defineRule<{ schema: string; known: string }, CatalogRuleKind>({
  id: 'misspelt-schema',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Schemas are spelt as the format spells them',
  format: ({ schema, known }) => ({
    what: `opm does not know the schema "${schema}": "${known}" was probably meant`,
    why: 'Schemas are compared letter by letter; a blob of an unknown one is kept and never read.',
    fix: `Write "${known}".`,
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const known = findIntendedSchema(schema)
      if (known !== undefined)
        yield { at: toLocation(place), about: [inPackage, schema, name], data: { schema, known } }
    }
  },
})

/** The intended schema, for a misspelled one. */
export function findIntendedSchema(schema: string): string | undefined {
  return isTemplateSchemaName(schema) ? undefined : findSimilarName(schema, Object.keys(blobShapes))
}
