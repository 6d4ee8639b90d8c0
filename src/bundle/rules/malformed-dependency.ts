import { defineRule } from '../../findings/rule.ts'

export const malformedDependency = defineRule<{ type: string; problem: string }>({
  id: 'malformed-dependency',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Dependencies are complete and of known types',
  format: ({ type, problem }) => ({
    what: `a dependency of type "${type}" cannot be used: ${problem}`,
    why: 'OLM cannot resolve it, or resolves something else.',
    fix: 'Correct metadata/dependencies.yaml.',
  }),
})
