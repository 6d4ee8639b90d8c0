import { defineBundleBlobRule } from '../catalog-rule.ts'
import { findSimilarName } from '../names.ts'

export const untypedPropertyRule = defineBundleBlobRule<{ bundle: string; type: string }>({
  id: 'untyped-property',
  severity: 'warning',
  title: 'Every property has a type',
  what: ({ bundle, type }) =>
    type === ''
      ? `a property of ${bundle} has no type`
      : `a property of ${bundle} has a type with leading or trailing whitespace: "${type}"`,
  why: 'OLM looks up properties by their exact type, so it never finds this property.',
  fix: 'Set the exact type, such as olm.gvk.',
  *find({ blob }) {
    for (const [index, { type, mark }] of blob.properties.entries())
      if (type === '' || type.trim() !== type) yield { mark, about: [type, String(index)], data: { type } }
  },
})

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

export const misspelledPropertyTypeRule = defineBundleBlobRule<{
  bundle: string
  type: string
  known: string
}>({
  id: 'misspelt-property-type',
  severity: 'error',
  title: 'Property types are spelled correctly',
  what: ({ bundle, type, known }) =>
    `${bundle} has a property of the unknown type "${type}" (did you mean "${known}"?)`,
  why: 'OLM silently ignores unknown property types, so the requirement or API in this property has no effect.',
  fix: ({ known }) => `Change the type to "${known}".`,
  *find({ blob }) {
    for (const { type, mark } of blob.properties) {
      // Custom types start with a domain. Another rule covers whitespace around a type.
      if (!/^olm/i.test(type) || type.trim() !== type || knownPropertyTypes.includes(type)) continue
      const known = findSimilarName(type, knownPropertyTypes)
      if (known !== undefined) yield { mark, about: [type], data: { type, known } }
    }
  },
})

/** The catalog stores only a summary of the first two, which cannot prove equality. Each type has separate rules. */
const propertyTypesWithoutDuplicateCheck = new Set(['olm.csv.metadata', 'olm.bundle.object', 'olm.package'])

export const duplicatePropertyRule = defineBundleBlobRule<{ bundle: string; type: string }>({
  id: 'duplicate-property',
  severity: 'warning',
  title: 'A bundle declares each property only once',
  what: ({ bundle, type }) => `${bundle} has the same ${type} property twice`,
  why: 'Duplicate properties add noise for the resolver and usually result from a manual merge.',
  fix: 'Remove the duplicate property.',
  *find({ blob }) {
    const seen = new Set<string>()
    for (const { type, value, mark } of blob.properties) {
      if (propertyTypesWithoutDuplicateCheck.has(type)) continue
      const key = `${type} ${JSON.stringify(value)}`
      if (seen.has(key)) yield { mark, about: [key], data: { type } }
      seen.add(key)
    }
  },
})
