// A property type that is a typo away from one that OLM reads. opm and OLM treat it as a custom type.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'
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
  CatalogRuleSignature
>({
  id: 'misspelt-property-type',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Property types are spelled correctly',
  format: ({ bundle, type, known }) => ({
    what: `${bundle} has a property of the unknown type "${type}" (did you mean "${known}"?)`,
    why: 'OLM silently ignores unknown property types, so the requirement or API in this property has no effect.',
    fix: `Change the type to "${known}".`,
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { type, mark } of bundle.blob.properties) {
        // Custom types start with a domain. Another rule covers whitespace around a type.
        if (!/^olm/i.test(type) || type.trim() !== type || knownPropertyTypes.includes(type)) continue
        const known = findSimilarName(type, knownPropertyTypes)
        if (known === undefined) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, type],
          data: { bundle: bundle.blob.name, type, known },
        }
      }
    }
  },
})
