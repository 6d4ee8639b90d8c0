import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const blockingDisruptionBudget = defineRule<
  { name: string; field: string; value: string },
  BundleRuleSignature
>({
  id: 'blocking-disruption-budget',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'objects',
  title: 'PodDisruptionBudgets allow nodes to be drained',
  format: ({ name, field, value }) => ({
    what: `the PodDisruptionBudget ${name} sets ${field} to ${value}`,
    why: "Nodes that run its pods can't be drained, which blocks cluster upgrades.",
    fix: 'Allow at least one pod to be unavailable.',
  }),
  *find({ objects }) {
    for (const object of objects) {
      const { file, kind, name } = object
      if (kind !== 'PodDisruptionBudget') continue
      for (const [field, blocking] of [
        ['maxUnavailable', [0, '0', '0%']],
        ['minAvailable', ['100%']],
      ] as const) {
        const value = getJsonFieldAtPath(object.data, 'spec', field)
        if ((blocking as readonly unknown[]).includes(value))
          yield {
            file,
            path: ['spec', field],
            data: { name, field, value: typeof value === 'number' ? String(value) : asStringOrEmpty(value) },
          }
      }
    }
  },
})
