import { bundleRule } from '../bundle-rule.ts'
import { examplesOf } from '../examples.ts'

export const exampleOfOtherApi = bundleRule<{ api: string }>({
  id: 'example-of-other-api',
  severity: 'warning',
  title: 'Examples are of APIs that the bundle provides',
  say: ({ api }) => ({
    what: `there is an example of ${api}, which the bundle does not provide`,
    why: 'Consoles offer it, and creating it fails.',
    fix: 'Own the API, or correct the example.',
  }),
  *find({ csv }) {
    const { examples, provided, annotation } = examplesOf(csv)
    for (const api of new Set(examples))
      if (!provided.includes(api)) yield { path: ['metadata', 'annotations', annotation], data: { api } }
  },
})
