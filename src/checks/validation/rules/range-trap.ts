import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { findRangeMisreading } from '../misread-range.ts'
import type { RangeMisreading } from '../misread-range.ts'
import { listVersionRanges } from '../version-ranges.ts'

export const misreadRange = defineRule<
  { range: string; trap: RangeMisreading['kind']; part: string; from: string },
  CatalogRuleKind
>({
  id: 'range-trap',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Version ranges mean what they say',
  format: ({ range, trap, part, from }) => ({
    what: `the ${from} "${range}" ${misreadingMessages[trap](part)}`,
    why: 'OLM reads ranges with rules of its own: no hyphen ranges, no ^ or ~, and it drops what it does not understand without a message.',
    fix: 'Write it with >=, <, = and ||, with three numbers in each version: ">=1.2.0 <2.0.0".',
  }),
  *find(catalog) {
    for (const { at, about, range, from } of listVersionRanges(catalog)) {
      const trap = findRangeMisreading(range)
      if (trap !== undefined)
        yield { at, about: [...about, range], data: { range, trap: trap.kind, part: trap.part, from } }
    }
  },
})

const misreadingMessages: Readonly<Record<RangeMisreading['kind'], (part: string) => string>> = {
  'dropped-token': (part) => `loses its "${part}", which OLM drops`,
  'dropped-operator': (part) => `loses the operator in "${part}", which then means one exact version`,
  'double-wildcard': (part) => `does not mean what "${part}" says: OLM ends it before the next minor version`,
  'matches-nothing': (part) =>
    part.includes(' ') || part === ''
      ? 'matches no version at all'
      : `matches no version at all because of "${part}"`,
}
