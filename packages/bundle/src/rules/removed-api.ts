import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { findRemovedApiUses } from '../removed-apis.ts'

export const removedApi = defineRule<{ api: string; name: string; release: string }, BundleRuleSignature>({
  id: 'removed-api',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'deprecated-apis',
  title: "Bundles don't use APIs that Kubernetes has removed",
  format: ({ api, name, release }) => ({
    what: `${name} uses ${api}, which was removed in Kubernetes ${release}`,
    why: 'The install plan fails on clusters that run that Kubernetes version or later.',
    fix: 'Migrate to the API that replaced it.',
  }),
  *find(bundle) {
    for (const { isCertain, ...use } of findRemovedApiUses(bundle)) if (!isCertain) yield use
  },
})
