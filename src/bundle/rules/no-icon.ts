import { bundleRule } from '../bundle-rule.ts'
import { at, listOf } from '../fields.ts'

export const noIcon = bundleRule<Record<never, never>>({
  id: 'no-icon',
  suite: 'operatorhub',
  severity: 'info',
  title: 'A bundle has an icon',
  say: () => ({
    what: 'the bundle has no icon',
    why: 'Consoles show a grey box.',
    fix: 'Write spec.icon.',
  }),
  *find({ csv }) {
    if (listOf(at(csv.data, 'spec', 'icon')).length === 0) yield { path: ['spec'], data: {} }
  },
})
