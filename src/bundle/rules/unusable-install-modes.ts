import { defineRule } from '../../findings/rule.ts'

export const unusableInstallModes = defineRule<{ problem: string }>({
  id: 'unusable-install-modes',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A ClusterServiceVersion supports an install mode',
  format: ({ problem }) => ({
    what: `the ClusterServiceVersion cannot be installed: ${problem}`,
    why: 'OLM looks for a mode that fits the OperatorGroup, and finds none.',
    fix: 'Set spec.installModes; AllNamespaces is what most clusters use.',
  }),
})
