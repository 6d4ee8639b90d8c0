// Two custom blobs with the same schema, package and name. The format requires them to be unique, but opm does not
// check.
import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'
import { isTemplate } from './template-in-catalog.ts'

export const duplicateCustomBlob = defineRule<{ schema: string; name: string }, OfCatalog>({
  id: 'duplicate-custom-blob',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Schema, package and name together are unique',
  say: ({ schema, name }) => ({
    what: `there is more than one blob of schema "${schema}" with the name "${name}" in this package`,
    why: 'Readers identify a blob by schema, package and name: which of these they get is chance.',
    fix: 'Remove the copies, or give each its own name.',
  }),
  *find({ catalog }) {
    const seen = new Map<string, (typeof catalog.others)[number]>()
    for (const blob of catalog.others) {
      const { schema, package: inPackage, name, place } = blob
      // Blobs without a name need not be unique.
      if (name === '' || isTemplate(schema)) continue
      const key = JSON.stringify([schema, inPackage, name])
      const first = seen.get(key)
      if (first === undefined) seen.set(key, blob)
      else
        yield {
          at: placeOf(place),
          about: [inPackage, schema, name],
          data: { schema, name },
          related: [{ at: placeOf(first.place), note: 'the first one' }],
        }
    }
  },
})
