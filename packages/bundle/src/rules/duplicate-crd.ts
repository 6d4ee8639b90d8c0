import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getApisDefinedByCrds } from '../registry-bundle.ts'

export const duplicateCrd = defineRule<{ api: string; first: string }, BundleRuleSignature>({
  id: 'duplicate-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle defines each API once',
  format: ({ api, first }) => ({
    what: `the API ${api} is also defined in ${first}`,
    why: 'OLM applies both definitions in an unpredictable order, and the last one wins.',
    fix: 'Keep one CustomResourceDefinition per API.',
  }),
  *find({ crds }) {
    const seen = new Map<string, string>()
    for (const crd of crds)
      for (const { group, version, kind } of getApisDefinedByCrds([crd])) {
        const api = `${group}/${version} ${kind}`
        const first = seen.get(api)
        // Another rule covers several versions in one file.
        if (first !== undefined && first !== crd.file) yield { file: crd.file, data: { api, first } }
        seen.set(api, first ?? crd.file)
      }
  },
})
