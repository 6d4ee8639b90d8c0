import { defineRule } from '@catalog-bot/findings/rule'

export const unusableInstallModes = defineRule<{ problem: string }>({
  id: 'unusable-install-modes',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A ClusterServiceVersion supports at least one install mode',
  format: ({ problem }) => ({
    what: `the ClusterServiceVersion can't be installed: ${problem}`,
    why: "OLM can't match the ClusterServiceVersion to an OperatorGroup.",
    fix: 'Set spec.installModes. Most clusters use AllNamespaces.',
  }),
})
