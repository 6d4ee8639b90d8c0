import type { Rule } from '../../findings/rule.ts'

export const unownedCrd: Rule<{ crd: string; file: string }> = {
  id: 'unowned-crd',
  check: 'images',
  severity: 'warning',
  title: 'The CRDs of a bundle are owned by its ClusterServiceVersion',
  say: ({ crd, file }) => ({
    what: `${file} defines ${crd}, which the ClusterServiceVersion does not own`,
    why: 'OLM installs it, but nothing says whose it is: conflicts with other Operators are not seen.',
    fix: 'List it under spec.customresourcedefinitions.owned.',
  }),
}
