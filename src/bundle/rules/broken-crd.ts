import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { crdProblems } from '../kubernetes/crd-problems.ts'

export const brokenCrd = defineRule<{ crd: string; problem: string }, OfBundle>({
  id: 'broken-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'CustomResourceDefinitions are such that an API server takes them',
  say: ({ crd, problem }) => ({
    what: `the CustomResourceDefinition ${crd} is refused by API servers: ${problem}`,
    why: 'The install plan fails, and with it the Operator.',
    fix: 'Correct the manifest, as `kubectl apply --dry-run=server` would demand it.',
  }),
  *find({ crds }) {
    for (const { file, name, tree, apiVersion } of crds)
      for (const [path, problem] of crdProblems(tree, apiVersion))
        yield { file, path, data: { crd: name, problem } }
  },
})
