import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { findVersionRangeMisreading } from '../misread-range.ts'
import type { VersionRangeMisreading } from '../misread-range.ts'
import { listVersionRanges } from '../version-ranges.ts'

export const misreadRange = defineRule<
  { range: string; trap: VersionRangeMisreading['kind']; part: string; from: string },
  CatalogRuleSignature
>({
  id: 'range-trap',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Version ranges match what they appear to match',
  format: ({ range, trap, part, from }) => ({
    what: `the ${from} "${range}" ${versionRangeMisreadingMessages[trap](part)}`,
    why: 'OLM does not support hyphen ranges, ^, or ~, and silently ignores the parts of a range that it does not understand.',
    fix: 'Use only >=, <, =, and ||, with three numbers in each version, such as ">=1.2.0 <2.0.0".',
  }),
  *find(catalog) {
    for (const { at, about, range, from } of listVersionRanges(catalog)) {
      const trap = findVersionRangeMisreading(range)
      if (trap !== undefined)
        yield { at, about: [...about, range], data: { range, trap: trap.kind, part: trap.part, from } }
    }
  },
})

const versionRangeMisreadingMessages: Readonly<
  Record<VersionRangeMisreading['kind'], (part: string) => string>
> = {
  'dropped-token': (part) => `contains "${part}", which OLM ignores`,
  'dropped-operator': (part) =>
    `has an operator in "${part}" that OLM ignores, so this part matches only one exact version`,
  'double-wildcard': (part) =>
    `contains "${part}", which OLM interprets as a range that ends before the next minor version`,
  'matches-nothing': (part) =>
    part.includes(' ') || part === '' ? 'matches no version' : `matches no version because of "${part}"`,
}
