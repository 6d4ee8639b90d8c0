import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at } from '../fields.ts'

const levels = ['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot']
export const unknownCapability = defineRule<{ capability: string }, OfBundle>({
  id: 'unknown-capability',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'capabilities',
  title: 'The capability level is one of the five',
  say: ({ capability }) => ({
    what: `"${capability}" is not a capability level`,
    why: 'OperatorHub.io refuses the bundle.',
    fix: 'Write Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot.',
  }),
  *find({ csv }) {
    const capability = at(csv.data, 'metadata', 'annotations', 'capabilities')
    if (typeof capability === 'string' && !levels.includes(capability))
      yield { path: ['metadata', 'annotations', 'capabilities'], data: { capability } }
  },
})
