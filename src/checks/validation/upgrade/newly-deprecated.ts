import { defineRule } from '@catalog-bot/findings/rule'
import type { Location } from '@catalog-bot/findings/finding'
import { toFindingLocation } from '../catalog-rule.ts'
import type { UpgradeRuleSignature } from './upgrade-rule.ts'

export const newlyDeprecated = defineRule<{ what: string; message: string }, UpgradeRuleSignature>({
  id: 'newly-deprecated',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'info',
  since: '0.1.0',
  title: 'New deprecations are intentional',
  format: ({ what, message }) => ({
    what: `${what} is newly deprecated: ${message}`,
    why: 'Clusters that use the deprecated item show this message to their users.',
    fix: 'Make sure that the message explains what to use instead.',
  }),
  *find({ kind, name: of, deprecations }, { result }) {
    if (kind !== 'changed') return
    const locations = new Map<string, Location>()
    for (const { package: its, place, entries } of result?.catalog.deprecations ?? [])
      if (its === of)
        for (const { schema, name, mark } of entries) {
          const key = `${schema}\n${name}`
          if (!locations.has(key)) locations.set(key, toFindingLocation(place, mark))
        }
    for (const { schema, name, message } of deprecations.added) {
      yield {
        at: locations.get(`${schema}\n${name}`),
        about: [schema, name],
        data: {
          what: schema === 'olm.package' ? 'the package' : `${schema.replace('olm.', '')} "${name}"`,
          message,
        },
      }
    }
  },
})
