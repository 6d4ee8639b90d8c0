import { defineRule } from '@catalog-bot/findings/rule'

export const invalidExample = defineRule<{ example: string; problem: string }>({
  id: 'invalid-example',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Examples match the schema of their CRD',
  format: ({ example, problem }) => ({
    what: `the example ${example} does not match the schema of its CRD: ${problem}`,
    why: 'Users who start from the example in a console get an error.',
    fix: 'Correct the example. To check it, run `kubectl create --dry-run=server`.',
  }),
})
