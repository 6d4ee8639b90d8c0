import { defineRule } from '../../../findings/rule.ts'
import type { UpgradeRuleKind } from './upgrade-rule.ts'

export const packageRemoved = defineRule<
  { name: string; bundles: number; deprecated: boolean },
  UpgradeRuleKind
>({
  id: 'package-removed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A published package stays in the catalog',
  format: ({ name, bundles, deprecated }) => ({
    what: `package "${name}" is removed, with ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}${deprecated ? ' (it was deprecated)' : ''}`,
    why: 'Who has it installed keeps a subscription that finds nothing any more, and it cannot be installed again.',
    fix: deprecated
      ? 'If it has been deprecated for long enough, nothing.'
      : 'Deprecate the package first (olm.deprecations), so that users are told, and remove it later.',
  }),
  *find({ kind, name, bundles }, { base, result }) {
    if (kind !== 'removed' || !base || !result) return
    yield {
      about: [],
      data: { name, bundles: bundles.removed.length, deprecated: base.isDeprecated('olm.package', '') },
    }
  },
})
