import { bundleRule } from '../bundle-rule.ts'
import { at } from '../fields.ts'

const levels = ['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot']
export const unknownCapability = bundleRule<{ capability: string }>({
  id: 'unknown-capability',
  suite: 'operatorhub',
  severity: 'warning',
  title: 'The capability level is one of the five',
  say: ({ capability }) => ({
    what: `"${capability}" is no capability level`,
    why: 'OperatorHub.io refuses the bundle.',
    fix: 'Write Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot.',
  }),
  *find({ csv }) {
    const capability = at(csv.data, 'metadata', 'annotations', 'capabilities')
    if (typeof capability === 'string' && !levels.includes(capability))
      yield { path: ['metadata', 'annotations', 'capabilities'], data: { capability } }
  },
})
