import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const duplicateWebhook = defineRule<{ webhook: string }, BundleRuleSignature>({
  id: 'duplicate-webhook',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Webhooks of the same type have unique names',
  format: ({ webhook }) => ({
    what: `two webhooks of the same type are named "${webhook}"`,
    why: 'OLM v1 rejects the bundle.',
    fix: 'Give each webhook a unique generateName.',
  }),
  *find({ csv }) {
    const seen = new Set<string>()
    for (const [index, entry] of asListOrEmpty(
      getJsonFieldAtPath(csv.data, 'spec', 'webhookdefinitions'),
    ).entries()) {
      const webhook = asStringOrEmpty(getJsonFieldAtPath(entry, 'generateName'))
      const key = `${asStringOrEmpty(getJsonFieldAtPath(entry, 'type'))} ${webhook}`
      if (seen.has(key))
        yield { path: ['spec', 'webhookdefinitions', index, 'generateName'], data: { webhook } }
      seen.add(key)
    }
  },
})
