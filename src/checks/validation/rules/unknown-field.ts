// A field that the format does not have and that resembles none of its fields. opm ignores it.
import { defineRule } from '../../../findings/rule.ts'
import { blobShapes } from '../../../catalog/load/known-fields.ts'
import type { OfCatalog } from '../catalog-rule.ts'
import { knownFieldsAt } from '../fields-at.ts'
import { aboutOddity, odditiesOf, propertyTypeOf } from '../view/oddities.ts'
import { similarName } from '../similar-name.ts'

export const unknownField = defineRule<
  {
    path: string
    field: string
    schema: string
    known: readonly string[]
  },
  OfCatalog
>({
  id: 'unknown-field',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Blobs have only fields that the format defines',
  say: ({ field, schema, known }) => ({
    what: `${schema} has no field "${field}"${known.length > 0 ? ` here, only ${known.join(', ')}` : ''}`,
    why: 'opm ignores fields that it does not know: they look like settings, and set nothing.',
    fix: 'Remove the field; what only people need to know fits in a comment.',
  }),
  *find(catalog) {
    for (const oddity of odditiesOf(catalog, 'unknown-field')) {
      if (!Object.hasOwn(blobShapes, oddity.schema)) continue
      const field = oddity.path.slice(oddity.path.lastIndexOf('.') + 1)
      const type = propertyTypeOf(catalog, oddity)
      const known = knownFieldsAt(oddity.schema, oddity.path, type)
      // Other rules cover these with better advice.
      if (similarName(field, known) !== undefined || isRelatedImageValue(oddity.path)) continue
      yield {
        ...aboutOddity(oddity, oddity.path),
        data: { path: oddity.path, field, schema: type ?? oddity.schema, known },
      }
    }
  },
})

function isRelatedImageValue(path: string): boolean {
  return /^relatedImages\[\d+\]\.value$/i.test(path)
}
