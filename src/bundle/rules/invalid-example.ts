import { defineRule } from '../../findings/rule.ts'

export const invalidExample = defineRule<{ example: string; problem: string }>({
  id: 'invalid-example',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples are valid by the schema of their CRD',
  format: ({ example, problem }) => ({
    what: `the example ${example} is not what its CRD allows: ${problem}`,
    why: 'Who starts from the example in a console gets an error.',
    fix: 'Correct the example, and try it with `kubectl create --dry-run=server`.',
  }),
})
