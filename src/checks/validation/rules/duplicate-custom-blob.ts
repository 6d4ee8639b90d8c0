// Two custom blobs with the same schema, package and name. The format requires them to be unique, but opm does not
// check.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { isTemplateSchemaName } from './template-in-catalog.ts'

export const duplicateCustomBlob = defineRule<{ schema: string; name: string }, CatalogRuleSignature>({
  id: 'duplicate-custom-blob',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Custom blobs are unique by schema, package, and name',
  format: ({ schema, name }) => ({
    what: `the package has more than one blob with schema "${schema}" and name "${name}"`,
    why: 'Tools identify a blob by schema, package, and name, so you cannot predict which of these blobs they will read.',
    fix: 'Remove the duplicates, or give each blob a unique name.',
  }),
  *find({ catalog }) {
    const seen = new Map<string, (typeof catalog.others)[number]>()
    for (const blob of catalog.others) {
      const { schema, package: inPackage, name, place } = blob
      // Blobs without a name need not be unique.
      if (name === '' || isTemplateSchemaName(schema)) continue
      const key = JSON.stringify([schema, inPackage, name])
      const first = seen.get(key)
      if (first === undefined) seen.set(key, blob)
      else
        yield {
          at: toFindingLocation(place),
          about: [inPackage, schema, name],
          data: { schema, name },
          related: [{ at: toFindingLocation(first.place), note: 'the first blob' }],
        }
    }
  },
})
