// A property type that is a typo away from one that OLM reads. opm and OLM treat it as a custom type.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'
import { findSimilarName } from '../similar-name.ts'

const knownPropertyTypes = [
  'olm.bundle.object',
  'olm.channel',
  'olm.constraint',
  'olm.csv.metadata',
  'olm.deprecated',
  'olm.gvk',
  'olm.gvk.required',
  'olm.label',
  'olm.maxOpenShiftVersion',
  'olm.package',
  'olm.package.required',
]

export const misspelledPropertyType = defineRule<
  { bundle: string; type: string; known: string },
  CatalogRuleKind
>({
  id: 'misspelt-property-type',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Property types are spelt as OLM spells them',
  format: ({ bundle, type, known }) => ({
    what: `OLM does not know the property type "${type}" of ${bundle}: "${known}" was probably meant`,
    why: 'Types are compared letter by letter: what the property demands or offers counts for nothing, and nobody is told.',
    fix: `Write "${known}".`,
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      for (const { type, mark } of bundle.blob.properties) {
        // Custom types begin with a domain; another rule covers blanks around a type.
        if (!/^olm/i.test(type) || type.trim() !== type || knownPropertyTypes.includes(type)) continue
        const known = findSimilarName(type, knownPropertyTypes)
        if (known === undefined) continue
        yield {
          at: toLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, type],
          data: { bundle: bundle.blob.name, type, known },
        }
      }
    }
  },
})
