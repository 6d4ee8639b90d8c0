import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleTypes } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const duplicateWebhook = defineRule<{ webhook: string }, BundleRuleTypes>({
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
    for (const [index, entry] of asList(getField(csv.data, 'spec', 'webhookdefinitions')).entries()) {
      const webhook = asString(getField(entry, 'generateName'))
      const key = `${asString(getField(entry, 'type'))} ${webhook}`
      if (seen.has(key))
        yield { path: ['spec', 'webhookdefinitions', index, 'generateName'], data: { webhook } }
      seen.add(key)
    }
  },
})
