import { bundleRule } from '../bundle-rule.ts'
import { at, objectOf } from '../fields.ts'

const known = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
]
export const misspeltAnnotation = bundleRule<{ found: string; wanted: string }>({
  id: 'misspelt-annotation',
  severity: 'warning',
  title: 'Annotations that OLM reads are spelt as it spells them',
  say: ({ found, wanted }) => ({
    what: `the annotation ${found} is not read: OLM looks for ${wanted}`,
    why: 'What it says has no effect, without a word.',
    fix: 'Spell it so.',
  }),
  *find({ csv }) {
    for (const found of Object.keys(objectOf(at(csv.data, 'metadata', 'annotations')))) {
      const wanted = known.find((name) => name.toLowerCase() === found.toLowerCase())
      if (wanted !== undefined && wanted !== found)
        yield { path: ['metadata', 'annotations', found], data: { found, wanted } }
    }
  },
})
