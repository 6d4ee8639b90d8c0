import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { findCrdProblems } from '../kubernetes/crd-problems.ts'

export const brokenCrd = defineRule<{ crd: string; problem: string }, BundleRuleSearch>({
  id: 'broken-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'CustomResourceDefinitions are such that an API server takes them',
  format: ({ crd, problem }) => ({
    what: `the CustomResourceDefinition ${crd} is refused by API servers: ${problem}`,
    why: 'The install plan fails, and with it the Operator.',
    fix: 'Correct the manifest, as `kubectl apply --dry-run=server` would demand it.',
  }),
  *find({ crds }) {
    for (const { file, name, tree, apiVersion } of crds)
      for (const [path, problem] of findCrdProblems(tree, apiVersion))
        yield { file, path, data: { crd: name, problem } }
  },
})
