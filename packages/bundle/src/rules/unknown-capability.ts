import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

const capabilityLevels = [
  'Basic Install',
  'Seamless Upgrades',
  'Full Lifecycle',
  'Deep Insights',
  'Auto Pilot',
]
export const unknownCapability = defineRule<{ capability: string }, BundleRuleSignature>({
  id: 'unknown-capability',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'capabilities',
  title: 'The capability level is one of the five standard levels',
  format: ({ capability }) => ({
    what: `"${capability}" is not a capability level`,
    why: 'OperatorHub.io rejects the bundle.',
    fix: 'Use Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot.',
  }),
  *find({ csv }) {
    const capability = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'capabilities')
    if (typeof capability === 'string' && !capabilityLevels.includes(capability))
      yield { path: ['metadata', 'annotations', 'capabilities'], data: { capability } }
  },
})
