import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asObject } from '../fields.ts'

const knownAnnotations = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
]
export const misspeltAnnotation = defineRule<{ found: string; wanted: string }, BundleRuleSearch>({
  id: 'misspelt-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Annotations that OLM reads are spelt as it spells them',
  format: ({ found, wanted }) => ({
    what: `the annotation ${found} is not read: OLM looks for ${wanted}`,
    why: 'OLM compares the names of annotations letter by letter. It ignores this one, and nobody is told.',
    fix: 'Write it as OLM spells it.',
  }),
  *find({ csv }) {
    for (const found of Object.keys(asObject(getField(csv.data, 'metadata', 'annotations')))) {
      const wanted = knownAnnotations.find((name) => name.toLowerCase() === found.toLowerCase())
      if (wanted !== undefined && wanted !== found)
        yield { path: ['metadata', 'annotations', found], data: { found, wanted } }
    }
  },
})
