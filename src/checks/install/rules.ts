// The rules of the install check.
import { createRuleDefiner } from '@catalog-bot/findings/rule'

const defineInstallRule = createRuleDefiner({
  check: 'install',
  judges: 'pull request',
  since: '0.1.0',
  network: true,
  overridable: true,
})

export const doesNotInstallRule = defineInstallRule<{
  package: string
  channel: string
  targets: readonly string[]
  reasons: readonly string[]
}>({
  id: 'does-not-install',
  severity: 'error',
  title: 'Every changed package can be installed from its catalog',
  what: ({ package: its, channel, targets, reasons }) =>
    `package ${its} can't be installed from channel ${channel} with ${targets.join(' or ')}${
      reasons.length === 0 ? '; other findings explain why' : `: ${reasons.join(' ')}`
    }`,
  why: "catalog-bot simulated the installer's steps without a cluster. A user who installs the package would get the same failure.",
  fix: ({ package: its }) =>
    `Fix the cause, or add the missing dependency to the catalog. To see every step, run: catalog-bot install CATALOG --package ${its} --verbose`,
})
