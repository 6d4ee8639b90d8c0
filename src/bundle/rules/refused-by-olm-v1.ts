import { defineRule } from '../../findings/rule.ts'

export const refusedByOlmV1 = defineRule<{ reason: string }>({
  id: 'refused-by-olm-v1',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'OLM v1 can make manifests of the bundle',
  format: ({ reason }) => ({
    what: `OLM v1 does not install the bundle: ${reason}`,
    why: 'Nothing is created where OLM v1 installs Operators; OLM v0 may take the bundle all the same.',
    fix: 'Change what OLM v1 names, or tell users that the Operator needs OLM v0.',
  }),
})
