import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty } from '../fields.ts'

export const noIcon = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'no-icon',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle has an icon',
  format: () => ({
    what: 'the bundle has no icon',
    why: 'Consoles show a generic placeholder instead.',
    fix: 'Set spec.icon.',
  }),
  *find({ csv }) {
    if (asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'icon')).length === 0)
      yield { path: ['spec'], data: {} }
  },
})
