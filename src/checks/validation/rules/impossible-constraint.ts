// A constraint that no single bundle can satisfy: OLM tests all parts against the same bundle.
import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'
import { readConstraint } from '../view/constraint.ts'
import type { Constraint } from '../view/constraint.ts'
import { bundlesOf, partsOf } from '../requirements.ts'
import { listed } from '../listed.ts'

export const impossibleConstraint = defineRule<{ bundle: string; packages: readonly string[] }, OfCatalog>({
  id: 'impossible-constraint',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A constraint can be satisfied by one bundle',
  say: ({ bundle, packages }) => ({
    what: `the constraint of ${bundle} wants one bundle to be of several packages: ${listed(packages)}`,
    why: '"all" holds every part against the same bundle, and a bundle belongs to one package: OLM can never install this.',
    fix: 'Write one property for each package; several properties are satisfied by several bundles.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of bundlesOf(catalog)) {
      for (const { value, mark } of bundle.properties('olm.constraint')) {
        const { constraint } = readConstraint(value)
        const packages =
          constraint && [...partsOf(constraint)].map(packagesOfAll).find(({ length }) => length > 1)
        if (packages === undefined) continue
        yield {
          at: placeOf(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, ...packages],
          data: { bundle: bundle.blob.name, packages },
        }
      }
    }
  },
})

function packagesOfAll(constraint: Constraint): string[] {
  if (constraint.kind !== 'all') return []
  return [
    ...new Set(constraint.constraints.flatMap((part) => (part.kind === 'package' ? [part.packageName] : []))),
  ]
}
