import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noCsvVersion = defineRule<Record<never, never>, OfBundle>({
  id: 'no-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
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
