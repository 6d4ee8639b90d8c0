// An olm.maxOpenShiftVersion that OpenShift cannot read: a number, where YAML drops the last digit of `4.10`, or a text
// that is no platform version. opm accepts any value.
import { defineRule } from '../../../findings/rule.ts'
import type { Json } from '../../../go/json/json.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

export const invalidMaxOpenshiftVersion = defineRule<{ bundle: string; problem: string }, CatalogRuleKind>({
  id: 'max-openshift-version',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'olm.maxOpenShiftVersion is one text such as "4.20"',
  format: ({ bundle, problem }) => ({
    what: `olm.maxOpenShiftVersion of ${bundle} ${problem}`,
    why: 'It keeps clusters from upgrading to a platform that the Operator does not support; one that cannot be read keeps nobody.',
    fix: `Write the value in quotes, major and minor version only: '4.20'.`,
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const properties = bundle.properties('olm.maxOpenShiftVersion')
      for (const [index, { value, mark }] of properties.entries()) {
        const problem = index > 0 ? 'is given more than once' : findVersionProblem(value)
        if (problem === undefined) continue
        yield {
          at: toLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, String(index)],
          data: { bundle: bundle.blob.name, problem },
        }
      }
    }
  },
})

function findVersionProblem(value: Json): string | undefined {
  if (typeof value === 'number') return `is the number ${value}, not a text`
  if (typeof value !== 'string') return 'is not a text'
  // OpenShift's operator-lifecycle-manager accepts a patch version but ignores it.
  return /^v?\d+\.\d+(?:\.\d+)?$/.test(value.trim())
    ? undefined
    : `is "${value}", which is not a version of the platform`
}
