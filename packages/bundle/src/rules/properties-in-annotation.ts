import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

export const propertiesInAnnotation = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'properties-in-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  title: 'Properties are defined in metadata/properties.yaml',
  format: () => ({
    what: 'the olm.properties annotation sets properties',
    why: 'The annotation takes precedence over metadata/properties.yaml, and if its JSON is invalid, opm only logs an error.',
    fix: 'Move the properties to metadata/properties.yaml.',
  }),
  *find({ csv }) {
    if (getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'olm.properties') !== undefined)
      yield { path: ['metadata', 'annotations', 'olm.properties'], data: {} }
  },
})
