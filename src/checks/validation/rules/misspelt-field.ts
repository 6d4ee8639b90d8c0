// A field that is a typo away from one that opm knows. opm ignores it.
import { defineRule } from '../../../findings/rule.ts'
import { blobShapes } from '../../../catalog/load/known-fields.ts'
import type { OfCatalog } from '../catalog-rule.ts'
import { knownFieldsAt } from '../fields-at.ts'
import { aboutOddity, odditiesOf, propertyTypeOf } from '../view/oddities.ts'
import { similarName } from '../similar-name.ts'

export const misspeltField = defineRule<
  { path: string; field: string; known: string; schema: string },
  OfCatalog
>({
  id: 'misspelt-field',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Fields are spelt as the format spells them',
  say: ({ field, known, schema }) => ({
    what: `${schema} has no field "${field}": "${known}" was probably meant`,
    why: 'opm ignores fields that it does not know, so what this one says has no effect and nobody is told.',
    fix: `Rename it to "${known}", or remove it.`,
  }),
  *find(catalog) {
    for (const oddity of odditiesOf(catalog, 'unknown-field')) {
      if (!Object.hasOwn(blobShapes, oddity.schema)) continue
      const field = oddity.path.slice(oddity.path.lastIndexOf('.') + 1)
      const type = propertyTypeOf(catalog, oddity)
      const known = similarName(field, knownFieldsAt(oddity.schema, oddity.path, type))
      if (known === undefined) continue
      const data = { path: oddity.path, field, known, schema: type ?? oddity.schema }
      yield { ...aboutOddity(oddity, oddity.path), data }
    }
  },
})
