// An olm.maxOpenShiftVersion that OpenShift cannot parse: a number (YAML drops the last digit of `4.10`), or a string
// that is not a platform version. opm accepts any value.
import { defineRule } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const invalidMaxOpenshiftVersion = defineRule<
  { bundle: string; problem: string },
  CatalogRuleSignature
>({
  id: 'max-openshift-version',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'olm.maxOpenShiftVersion is a single string such as "4.20"',
  format: ({ bundle, problem }) => ({
    what: `olm.maxOpenShiftVersion of ${bundle} ${problem}`,
    why: 'The property stops clusters from upgrading to a platform that the Operator does not support, but an invalid value has no effect.',
    fix: `Write only the major and minor version, in quotes: '4.20'.`,
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const properties = bundle.properties('olm.maxOpenShiftVersion')
      for (const [index, { value, mark }] of properties.entries()) {
        const problem = index > 0 ? 'is set more than once' : findMaxOpenshiftVersionProblem(value)
        if (problem === undefined) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, String(index)],
          data: { bundle: bundle.blob.name, problem },
        }
      }
    }
  },
})

function findMaxOpenshiftVersionProblem(value: Json): string | undefined {
  if (typeof value === 'number') return `is the number ${value}, not a string`
  if (typeof value !== 'string') return 'is not a string'
  // OpenShift's operator-lifecycle-manager accepts a patch version but ignores it.
  return /^v?\d+\.\d+(?:\.\d+)?$/.test(value.trim())
    ? undefined
    : `is "${value}", which is not an OpenShift version`
}
