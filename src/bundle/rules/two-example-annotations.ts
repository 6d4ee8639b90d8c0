import { bundleRule } from '../bundle-rule.ts'
import { at, objectOf } from '../fields.ts'

export const twoExampleAnnotations = bundleRule<Record<never, never>>({
  id: 'two-example-annotations',
  severity: 'warning',
  title: 'Examples stand in one annotation',
  say: () => ({
    what: 'there are both alm-examples and olm.examples',
    why: 'Only alm-examples is looked at.',
    fix: 'Keep alm-examples.',
  }),
  *find({ csv }) {
    const annotations = objectOf(at(csv.data, 'metadata', 'annotations'))
    if ('alm-examples' in annotations && 'olm.examples' in annotations)
      yield { path: ['metadata', 'annotations', 'olm.examples'], data: {} }
  },
})
