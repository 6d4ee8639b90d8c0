import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { removedUses } from '../removed-apis.ts'

export const apiNeverThere = defineRule<{ api: string; name: string; release: string }, OfBundle>({
  id: 'api-never-there',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'deprecated-apis',
  title: 'Bundles use APIs that the Kubernetes which they need has',
  say: ({ api, name, release }) => ({
    what: `${name} is of ${api}, which Kubernetes ${release} removed, and minKubeVersion is no older`,
    why: 'The install plan fails on every cluster that the bundle may be installed on.',
    fix: 'Move to the API that replaced it.',
  }),
  *find(bundle) {
    for (const { isCertain, ...use } of removedUses(bundle)) if (isCertain) yield use
  },
})
