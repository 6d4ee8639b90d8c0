import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { parseCsvExamples } from '../csv-examples.ts'

export const exampleOfOtherApi = defineRule<{ api: string }, BundleRuleSignature>({
  id: 'example-of-other-api',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples use APIs that the bundle provides',
  format: ({ api }) => ({
    what: `an example uses ${api}, which the bundle does not provide`,
    why: 'Consoles offer the example, but creating the object fails.',
    fix: 'Correct the example, or list the API as owned.',
  }),
  *find({ csv }) {
    const { examples, provided, annotation } = parseCsvExamples(csv)
    for (const api of new Set(examples))
      if (!provided.includes(api)) yield { path: ['metadata', 'annotations', annotation], data: { api } }
  },
})
