import type { Rule } from '../../findings/rule.ts'

export const malformedDependency: Rule<{ type: string; problem: string }> = {
  id: 'malformed-dependency',
  check: 'images',
  severity: 'error',
  title: 'Dependencies are complete and of known types',
  say: ({ type, problem }) => ({
    what: `a dependency of type "${type}" cannot be used: ${problem}`,
    why: 'OLM cannot resolve it, or resolves something else.',
    fix: 'Correct metadata/dependencies.yaml.',
  }),
}
