import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noProvider = defineRule<Record<never, never>, OfBundle>({
  id: 'no-provider',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle says who provides it',
  say: () => ({
    what: 'the bundle does not say who provides it',
    why: 'OperatorHub.io refuses it.',
    fix: 'Write spec.provider.name.',
  }),
  *find({ csv }) {
    if (textOf(at(csv.data, 'spec', 'provider', 'name')).trim() === '')
      yield { path: ['spec', 'provider'], data: {} }
  },
})
