// Names of custom blobs that `opm serve` rejects although `opm validate` accepts them (since opm v1.69.0).
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

const servableSchemaOrPackagePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

export const unservableSchema = defineRule<
  { field: 'schema' | 'package'; value: string },
  CatalogRuleSignature
>({
  id: 'unservable-schema',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'opm can serve the schema and package names of every custom blob',
  format: ({ field, value }) => ({
    what: `opm cannot serve a custom blob with the ${field} "${value}"`,
    why: '`opm validate` accepts the blob, but the pod that serves the catalog rejects it and never starts.',
    fix: 'Use only letters, digits, dots, dashes, and underscores, and start with a letter or digit.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const about = [inPackage, schema, name]
      if (!servableSchemaOrPackagePattern.test(schema))
        yield { at: toFindingLocation(place), about, data: { field: 'schema', value: schema } }
      if (inPackage !== '' && !servableSchemaOrPackagePattern.test(inPackage))
        yield { at: toFindingLocation(place), about, data: { field: 'package', value: inPackage } }
    }
  },
})
