import { bundleRule } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noProvider = bundleRule<Record<never, never>>({
  id: 'no-provider',
  suite: 'operatorhub',
  severity: 'warning',
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
