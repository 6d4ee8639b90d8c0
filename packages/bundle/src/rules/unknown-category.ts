import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

const standardOperatorCategories: ReadonlySet<string> = new Set([
  'AI/Machine Learning',
  'Application Runtime',
  'Big Data',
  'Cloud Provider',
  'Database',
  'Developer Tools',
  'Integration & Delivery',
  'Logging & Tracing',
  'Modernization & Migration',
  'Monitoring',
  'Networking',
  'Observability',
  'OpenShift Optional',
  'Security',
  'Storage',
  'Streaming & Messaging',
])
export const unknownCategory = defineRule<{ category: string }, BundleRuleSignature>({
  id: 'unknown-category',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'categories',
  title: 'All categories are recognized by OperatorHub.io',
  format: ({ category }) => ({
    what: `OperatorHub.io has no category named "${category}"`,
    why: "Users who browse by category can't find the Operator.",
    fix: "Use one of the categories listed in this rule's documentation.",
  }),
  *find({ csv }) {
    const listed = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'categories')
    if (typeof listed !== 'string') return
    for (const category of listed.split(',').map((name) => name.trim()))
      if (!standardOperatorCategories.has(category))
        yield { path: ['metadata', 'annotations', 'categories'], data: { category } }
  },
})
