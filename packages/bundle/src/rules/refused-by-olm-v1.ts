import { defineRule } from '@catalog-bot/findings/rule'

export const refusedByOlmV1 = defineRule<{ reason: string }>({
  id: 'refused-by-olm-v1',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: "OLM v1 can render the bundle's manifests",
  format: ({ reason }) => ({
    what: `OLM v1 does not install the bundle: ${reason}`,
    why: "The Operator can't be installed with OLM v1, although OLM v0 might still accept the bundle.",
    fix: 'Fix the problem that OLM v1 reports, or document that the Operator requires OLM v0.',
  }),
})
