import { defineRule } from '../../findings/rule.ts'

export const unsafeCrdUpgrade = defineRule<{
  crd: string
  problem: string
  /** OLM v1 lets it happen. */ isSilent?: true
}>({
  id: 'unsafe-crd-upgrade',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A new version of a CRD takes the objects of the old one',
  format: ({ crd, problem }) => ({
    what: `upgrading the CustomResourceDefinition ${crd} is not safe: ${problem}`,
    why: 'Objects that users have may become invalid or be lost. OLM v1 refuses most such upgrades.',
    fix: 'Keep what the old bundle allowed, or serve the change under a new version with a conversion.',
  }),
})
