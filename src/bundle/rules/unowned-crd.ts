import { defineRule } from '../../findings/rule.ts'

export const unownedCrd = defineRule<{ crd: string; file: string }>({
  id: 'unowned-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The CRDs of a bundle are owned by its ClusterServiceVersion',
  format: ({ crd, file }) => ({
    what: `${file} defines ${crd}, which the ClusterServiceVersion does not own`,
    why: 'OLM installs it, but nothing says whose it is: conflicts with other Operators are not seen.',
    fix: 'List it under spec.customresourcedefinitions.owned.',
  }),
})
