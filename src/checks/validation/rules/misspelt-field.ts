// A field that is a typo away from one that opm knows. opm ignores it.
import { defineRule } from '@catalog-bot/findings/rule'
import { fieldShapesByBlobSchema } from '@catalog-bot/fbc/load/find-leniencies'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { findKnownFieldNames } from '../known-fields.ts'
import {
  toParserLeniencyRuleHit,
  listParserLeniencies,
  findEnclosingPropertyType,
} from '../view/leniencies.ts'
import { findSimilarName } from '../similar-name.ts'

export const misspelledField = defineRule<
  { path: string; field: string; known: string; schema: string },
  CatalogRuleSignature
>({
  id: 'misspelt-field',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Field names are spelled correctly',
  format: ({ field, known, schema }) => ({
    what: `${schema} has no field "${field}" (did you mean "${known}"?)`,
    why: 'opm silently ignores unknown fields, so the value of this field has no effect.',
    fix: `Rename it to "${known}", or remove it.`,
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'unknown-field')) {
      if (!Object.hasOwn(fieldShapesByBlobSchema, leniency.schema)) continue
      const field = leniency.path.slice(leniency.path.lastIndexOf('.') + 1)
      const type = findEnclosingPropertyType(catalog, leniency)
      const known = findSimilarName(field, findKnownFieldNames(leniency.schema, leniency.path, type))
      if (known === undefined) continue
      const data = { path: leniency.path, field, known, schema: type ?? leniency.schema }
      yield { ...toParserLeniencyRuleHit(leniency, leniency.path), data }
    }
  },
})
