// A constraint that no single bundle can satisfy. OLM tests all parts against the same bundle.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { parseConstraint } from '../view/constraint.ts'
import type { OlmConstraint } from '../view/constraint.ts'
import { listBundlesWithPackages, listNestedConstraints } from '../requirements.ts'
import { formatTruncatedNames } from '../format-names.ts'

export const impossibleConstraint = defineRule<
  { bundle: string; packages: readonly string[] },
  CatalogRuleSignature
>({
  id: 'impossible-constraint',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A single bundle can satisfy each constraint',
  format: ({ bundle, packages }) => ({
    what: `the constraint of ${bundle} requires one bundle to belong to several packages: ${formatTruncatedNames(packages)}`,
    why: '"all" applies every part to the same bundle, but a bundle belongs to only one package, so OLM can never satisfy the constraint.',
    fix: 'Use a separate property for each package, because different bundles can satisfy different properties.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { value, mark } of bundle.properties('olm.constraint')) {
        const { constraint } = parseConstraint(value)
        const packages =
          constraint &&
          [...listNestedConstraints(constraint)].map(listRequiredPackages).find(({ length }) => length > 1)
        if (packages === undefined) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, ...packages],
          data: { bundle: bundle.blob.name, packages },
        }
      }
    }
  },
})

function listRequiredPackages(constraint: OlmConstraint): string[] {
  if (constraint.kind !== 'all') return []
  return [
    ...new Set(constraint.constraints.flatMap((part) => (part.kind === 'package' ? [part.packageName] : []))),
  ]
}
