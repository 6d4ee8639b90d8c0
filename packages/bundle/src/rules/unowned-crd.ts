import { defineRule } from '@catalog-bot/findings/rule'

export const unownedCrd = defineRule<{ crd: string; file: string }>({
  id: 'unowned-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The ClusterServiceVersion owns all CRDs of the bundle',
  format: ({ crd, file }) => ({
    what: `${file} defines ${crd}, which the ClusterServiceVersion does not own`,
    why: "OLM installs the CRD without recording an owner, so it can't detect conflicts with other Operators.",
    fix: 'List the CRD under spec.customresourcedefinitions.owned.',
  }),
})
