import { defineRule } from '@catalog-bot/findings/rule'

export const malformedDependency = defineRule<{ type: string; problem: string }>({
  id: 'malformed-dependency',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Dependencies are complete and have a known type',
  format: ({ type, problem }) => ({
    what: `a dependency of type "${type}" is invalid: ${problem}`,
    why: "OLM can't resolve the dependency, or resolves it incorrectly.",
    fix: 'Correct metadata/dependencies.yaml.',
  }),
})
