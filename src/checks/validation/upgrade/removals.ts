// Removed bundles. The ownership check decides whether the author may remove them; installed-version-stranded finds
// lost upgrade paths.
import { defineRule } from '@catalog-bot/findings/rule'
import { findPackageLocation, formatTruncatedNameList, type UpgradeRuleSignature } from './upgrade-rule.ts'

export const bundleRemoved = defineRule<{ bundles: readonly string[] }, UpgradeRuleSignature>({
  id: 'bundle-removed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A published bundle remains in the catalog',
  format: ({ bundles }) => ({
    what: `${bundles.length === 1 ? 'published bundle' : `${bundles.length} published bundles`} removed: ${formatTruncatedNameList(bundles)}`,
    why: 'Clusters that pin or reinstall a removed version can no longer install it.',
    fix: 'Keep the bundles, and deprecate or skip those that users should no longer install.',
  }),
  *find({ kind, bundles }, sides) {
    if (kind !== 'changed' || bundles.removed.length === 0) return
    yield {
      at: findPackageLocation(sides),
      about: [],
      data: { bundles: bundles.removed.map(({ name }) => name) },
    }
  },
})
