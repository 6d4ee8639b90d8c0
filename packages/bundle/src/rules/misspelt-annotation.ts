import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asObjectOrEmpty } from '../fields.ts'

const olmAnnotationKeys = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
]
export const misspeltAnnotation = defineRule<{ found: string; wanted: string }, BundleRuleSignature>({
  id: 'misspelt-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'OLM annotations are spelled correctly',
  format: ({ found, wanted }) => ({
    what: `OLM ignores the annotation ${found}; the correct spelling is ${wanted}`,
    why: "Annotation names are case-sensitive, and OLM doesn't report unknown ones.",
    fix: 'Use the exact spelling that OLM expects.',
  }),
  *find({ csv }) {
    for (const found of Object.keys(
      asObjectOrEmpty(getJsonFieldAtPath(csv.data, 'metadata', 'annotations')),
    )) {
      const wanted = olmAnnotationKeys.find((name) => name.toLowerCase() === found.toLowerCase())
      if (wanted !== undefined && wanted !== found)
        yield { path: ['metadata', 'annotations', found], data: { found, wanted } }
    }
  },
})
