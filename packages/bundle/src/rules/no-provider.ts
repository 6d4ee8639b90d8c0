import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const noProvider = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'no-provider',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle names its provider',
  format: () => ({
    what: 'the bundle does not name its provider',
    why: 'OperatorHub.io rejects the bundle.',
    fix: 'Set spec.provider.name.',
  }),
  *find({ csv }) {
    if (asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'provider', 'name')).trim() === '')
      yield { path: ['spec', 'provider'], data: {} }
  },
})
