import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { parseCsvExamples } from '../csv-examples.ts'

export const exampleOfOtherApi = defineRule<{ api: string }, BundleRuleSearch>({
  id: 'example-of-other-api',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples are of APIs that the bundle provides',
  format: ({ api }) => ({
    what: `there is an example of ${api}, which the bundle does not provide`,
    why: 'Consoles offer it, and creating it fails.',
    fix: 'Own the API, or correct the example.',
  }),
  *find({ csv }) {
    const { examples, provided, annotation } = parseCsvExamples(csv)
    for (const api of new Set(examples))
      if (!provided.includes(api)) yield { path: ['metadata', 'annotations', annotation], data: { api } }
  },
})
