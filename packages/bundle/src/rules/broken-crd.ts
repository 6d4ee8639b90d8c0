import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { findCrdProblems } from '../kubernetes/crd-problems.ts'

export const brokenCrd = defineRule<{ crd: string; problem: string }, BundleRuleSignature>({
  id: 'broken-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'CustomResourceDefinitions are valid',
  format: ({ crd, problem }) => ({
    what: `the CustomResourceDefinition ${crd} is invalid: ${problem}`,
    why: 'The API server rejects it, so the install plan fails.',
    fix: 'Correct the manifest. To check it, run `kubectl apply --dry-run=server`.',
  }),
  *find({ crds }) {
    for (const { file, name, tree, apiVersion } of crds)
      for (const [path, problem] of findCrdProblems(tree, apiVersion))
        yield { file, path, data: { crd: name, problem } }
  },
})
