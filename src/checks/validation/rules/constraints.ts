// An olm.constraint that OLM's resolver cannot decode. opm accepts any value.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { parseConstraint } from '../view/constraint.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const brokenConstraint = defineRule<
  { bundle: string; path: string; problem: string },
  CatalogRuleSignature
>({
  id: 'broken-constraint',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Every constraint has a structure that OLM can decode',
  format: ({ bundle, path, problem }) => ({
    what: `the constraint of ${bundle}${path === '' ? '' : `, at ${shortenConstraintPath(path)},`} ${problem}`,
    why: 'opm accepts any value here, but OLM fails to decode the constraint when a user installs the Operator.',
    fix: 'Use exactly one of gvk, package, cel, all, any, and not. failureMessage is optional.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { value, mark } of bundle.properties('olm.constraint')) {
        for (const { path, problem } of parseConstraint(value).problems)
          yield {
            at: toFindingLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, path, problem],
            data: { bundle: bundle.blob.name, path, problem },
          }
      }
    }
  },
})

/** The start and end of a long path: constraints may be nested sixty levels deep. */
function shortenConstraintPath(path: string): string {
  return path.length <= 120 ? path : `${path.slice(0, 50)}…${path.slice(-50)}`
}
