import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { parseCsvExamples } from '../csv-examples.ts'

export const apiWithoutExample = defineRule<{ api: string }, BundleRuleSignature>({
  id: 'api-without-example',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Every provided API has an example',
  format: ({ api }) => ({
    what: `the bundle has no example for ${api}`,
    why: 'Consoles show examples to users who create their first object.',
    fix: 'Add an example to the alm-examples annotation.',
  }),
  *find({ csv }) {
    const { examples, provided } = parseCsvExamples(csv)
    for (const api of new Set(provided))
      if (!examples.includes(api)) yield { path: ['metadata', 'annotations'], data: { api } }
  },
})
