import { defineRule } from '../../../findings/rule.ts'

export const doesNotInstall = defineRule<{
  package: string
  channel: string
  targets: readonly string[]
  reasons: readonly string[]
}>({
  id: 'does-not-install',
  check: 'install',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every changed package can be installed from its catalog',
  format: ({ package: its, channel, targets, reasons }) => ({
    what: `package ${its} does not install from channel ${channel} with ${targets.join(' and ')}: ${
      reasons.length === 0 ? 'other findings say why' : reasons.join('; ')
    }`,
    why: 'This was simulated: the steps of the installer, as far as they can be told without a cluster.',
    fix: `Run: catalog-bot install CATALOG --package ${its}`,
  }),
})
