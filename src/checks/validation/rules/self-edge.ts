// An entry that replaces or skips itself. opm treats it as replaced, so it cannot be a head.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

export const selfEdge = defineRule<
  { channel: string; entry: string; edge: 'replaces' | 'skips' },
  CatalogRuleSignature
>({
  id: 'self-edge',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'No entry replaces or skips itself',
  format: ({ entry, edge }) => ({
    what: `${entry} ${edge} itself`,
    why: 'An entry that is replaced or skipped cannot be a head, and a skipped entry cannot be installed.',
    fix: `Remove ${entry} from its own ${edge} field.`,
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      for (const { blob } of its.channels) {
        for (const { name, mark, replaces, skips } of blob.entries) {
          if (name === '') continue
          const edge: 'replaces' | 'skips' | undefined =
            replaces === name ? 'replaces' : skips.includes(name) ? 'skips' : undefined
          if (edge === undefined) continue
          const data = { channel: blob.name, entry: name, edge }
          yield { at: toFindingLocation(blob.place, mark), about: [its.name, blob.name, name], data }
        }
      }
    }
  },
})
