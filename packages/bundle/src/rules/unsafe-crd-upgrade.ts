import { defineRule } from '@catalog-bot/findings/rule'

export const unsafeCrdUpgrade = defineRule<{
  crd: string
  problem: string
  /** OLM v1 allows it. */ isSilent?: true
}>({
  id: 'unsafe-crd-upgrade',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'New CRD versions accept existing objects',
  format: ({ crd, problem }) => ({
    what: `upgrading the CustomResourceDefinition ${crd} is not safe: ${problem}`,
    why: 'Existing objects might become invalid or be lost. OLM v1 rejects most such upgrades.',
    fix: 'Keep accepting what the old version allowed, or add a new API version with a conversion.',
  }),
})
