import { bundleRule } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noCsvVersion = bundleRule<Record<never, never>>({
  id: 'no-csv-version',
  suite: 'operatorhub',
  severity: 'warning',
  title: 'A bundle has a version',
  say: () => ({
    what: 'the ClusterServiceVersion has no version',
    why: 'OperatorHub.io refuses the bundle, and upgrades cannot be ordered.',
    fix: 'Write spec.version.',
  }),
  *find({ csv }) {
    if (['', '0.0.0'].includes(textOf(at(csv.data, 'spec', 'version'))))
      yield { path: ['spec', 'version'], data: {} }
  },
})
