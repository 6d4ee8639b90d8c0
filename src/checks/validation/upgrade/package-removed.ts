import { defineRule } from '@catalog-bot/findings/rule'
import type { UpgradeRuleSignature } from './upgrade-rule.ts'

export const packageRemoved = defineRule<
  { name: string; bundles: number; deprecated: boolean },
  UpgradeRuleSignature
>({
  id: 'package-removed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A published package remains in the catalog',
  format: ({ name, bundles, deprecated }) => ({
    what: `package "${name}" is removed, with ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}${deprecated ? ' (it was deprecated)' : ''}`,
    why: 'Existing subscriptions stop receiving updates, and users can no longer install the package.',
    fix: deprecated
      ? 'If the package has been deprecated long enough, no action is needed.'
      : 'To inform users, first deprecate the package in olm.deprecations, and remove it later.',
  }),
  *find({ kind, name, bundles }, { base, result }) {
    if (kind !== 'removed' || !base || !result) return
    yield {
      about: [],
      data: { name, bundles: bundles.removed.length, deprecated: base.isDeprecated('olm.package', '') },
    }
  },
})
