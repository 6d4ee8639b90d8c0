import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { findRemovedApiUses } from '../removed-apis.ts'

export const apiNeverThere = defineRule<{ api: string; name: string; release: string }, BundleRuleSignature>({
  id: 'api-never-there',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'deprecated-apis',
  title: "Bundles don't use APIs that no longer exist in their minimum Kubernetes version",
  format: ({ api, name, release }) => ({
    what: `${name} uses ${api}, which was removed in Kubernetes ${release}, but minKubeVersion is ${release} or later`,
    why: 'The install plan fails on every cluster that the bundle supports.',
    fix: 'Migrate to the API that replaced it.',
  }),
  *find(bundle) {
    for (const { isCertain, ...use } of findRemovedApiUses(bundle)) if (isCertain) yield use
  },
})
