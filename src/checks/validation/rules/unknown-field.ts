// A field that the format does not have and that resembles none of its fields. opm ignores it.
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

export const unknownField = defineRule<
  {
    path: string
    field: string
    schema: string
    known: readonly string[]
  },
  CatalogRuleSignature
>({
  id: 'unknown-field',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Blobs contain only fields that the format defines',
  format: ({ field, schema, known }) => ({
    what: `${schema} has no field "${field}"${known.length > 0 ? ` here; the allowed fields are ${known.join(', ')}` : ''}`,
    why: 'opm ignores unknown fields, so the value has no effect.',
    fix: 'Remove the field. If its value is only for human readers, use a comment instead.',
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'unknown-field')) {
      if (!Object.hasOwn(fieldShapesByBlobSchema, leniency.schema)) continue
      const field = leniency.path.slice(leniency.path.lastIndexOf('.') + 1)
      const type = findEnclosingPropertyType(catalog, leniency)
      const known = findKnownFieldNames(leniency.schema, leniency.path, type)
      // Other rules cover these with better advice.
      if (findSimilarName(field, known) !== undefined || isRelatedImagesValuePath(leniency.path)) continue
      yield {
        ...toParserLeniencyRuleHit(leniency, leniency.path),
        data: { path: leniency.path, field, schema: type ?? leniency.schema, known },
      }
    }
  },
})

function isRelatedImagesValuePath(path: string): boolean {
  return /^relatedImages\[\d+\]\.value$/i.test(path)
}
