import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { removedUses } from '../removed-apis.ts'

export const removedApi = defineRule<{ api: string; name: string; release: string }, OfBundle>({
  id: 'removed-api',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'deprecated-apis',
  title: 'Bundles use APIs that Kubernetes still has',
  say: ({ api, name, release }) => ({
    what: `${name} is of ${api}, which Kubernetes ${release} removed`,
    why: 'The install plan fails on every newer cluster.',
    fix: 'Move to the API that replaced it.',
  }),
  *find(bundle) {
    for (const { isCertain, ...use } of removedUses(bundle)) if (!isCertain) yield use
  },
})
