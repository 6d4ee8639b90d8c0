import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asObjectOrEmpty } from '../fields.ts'

export const twoExampleAnnotations = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'two-example-annotations',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples are in one annotation',
  format: () => ({
    what: 'both alm-examples and olm.examples are set',
    why: 'Only alm-examples is used.',
    fix: 'Keep alm-examples, and remove olm.examples.',
  }),
  *find({ csv }) {
    const annotations = asObjectOrEmpty(getJsonFieldAtPath(csv.data, 'metadata', 'annotations'))
    if ('alm-examples' in annotations && 'olm.examples' in annotations)
      yield { path: ['metadata', 'annotations', 'olm.examples'], data: {} }
  },
})
