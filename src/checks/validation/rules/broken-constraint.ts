// An olm.constraint that OLM's resolver cannot decode. To opm every value is fine.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { parseConstraint } from '../view/constraint.ts'
import { listBundles } from '../requirements.ts'

export const brokenConstraint = defineRule<
  { bundle: string; path: string; problem: string },
  CatalogRuleKind
>({
  id: 'broken-constraint',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Constraints have the structure that OLM can decode',
  format: ({ bundle, path, problem }) => ({
    what: `the constraint of ${bundle}${path === '' ? '' : `, at ${shortenPath(path)},`} ${problem}`,
    why: 'opm accepts any value here; OLM decodes it only when somebody installs the Operator, and then fails.',
    fix: 'A constraint has exactly one of gvk, package, cel, all, any and not, and may have a failureMessage.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      for (const { value, mark } of bundle.properties('olm.constraint')) {
        for (const { path, problem } of parseConstraint(value).problems)
          yield {
            at: toLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, path, problem],
            data: { bundle: bundle.blob.name, path, problem },
          }
      }
    }
  },
})

/** The start and end of a long path: constraints may be nested sixty levels deep. */
function shortenPath(path: string): string {
  return path.length <= 120 ? path : `${path.slice(0, 50)}…${path.slice(-50)}`
}
