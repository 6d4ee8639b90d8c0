import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at } from '../fields.ts'

export const propertiesInAnnotation = defineRule<Record<never, never>, OfBundle>({
  id: 'properties-in-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  title: 'Properties are in metadata/properties.yaml',
  say: () => ({
    what: 'properties are given in the annotation olm.properties',
    why: 'They win over metadata/properties.yaml, and a mistake in their JSON goes unnoticed.',
    fix: 'Move them to metadata/properties.yaml.',
  }),
  *find({ csv }) {
    if (at(csv.data, 'metadata', 'annotations', 'olm.properties') !== undefined)
      yield { path: ['metadata', 'annotations', 'olm.properties'], data: {} }
  },
})
