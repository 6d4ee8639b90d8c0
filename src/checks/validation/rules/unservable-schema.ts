// Names of custom blobs that `opm serve` refuses although `opm validate` accepts them (since opm v1.69.0).
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

const servableNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

export const unservableSchema = defineRule<{ field: 'schema' | 'package'; value: string }, CatalogRuleKind>({
  id: 'unservable-schema',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'The schema and package of a custom blob are names that opm can serve',
  format: ({ field, value }) => ({
    what: `opm cannot serve a custom blob whose ${field} is "${value}"`,
    why: '`opm validate` accepts it, but the pod that serves the catalog refuses it and never starts.',
    fix: 'Use letters, digits, dots, dashes and underscores only, and start with a letter or a digit.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const about = [inPackage, schema, name]
      if (!servableNamePattern.test(schema))
        yield { at: toLocation(place), about, data: { field: 'schema', value: schema } }
      if (inPackage !== '' && !servableNamePattern.test(inPackage))
        yield { at: toLocation(place), about, data: { field: 'package', value: inPackage } }
    }
  },
})
