// A value that YAML parses as a different type than it appears to have, in a place where opm accepts any type.
// Elsewhere, opm rejects the file.
import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { toParserLeniencyRuleHit, listParserLeniencies } from '../view/leniencies.ts'

export const misreadScalar = defineRule<
  { path: string; text: string; value: number | boolean },
  CatalogRuleSignature
>({
  id: 'surprising-scalar',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Unquoted values have the type that they appear to have',
  format: ({ path, text, value }) => ({
    what: `the value ${text} of ${path} is parsed as the ${typeof value} ${String(value)}`,
    why: 'YAML infers the type of an unquoted value, and tools get only the inferred value.',
    fix: `If the value is a string, write '${text}' in quotes. If it is a ${typeof value}, write ${String(value)}.`,
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'scalar')) {
      // max-openshift-version covers the platform's version.
      const index = /^properties\[(\d+)\]\.value$/i.exec(leniency.path)?.[1]
      const bundle =
        index === undefined ? undefined : catalog.package(leniency.package)?.bundle(leniency.name)
      if (bundle?.blob.properties[Number(index)]?.type === 'olm.maxOpenShiftVersion') continue
      const { path, text, value } = leniency
      yield { ...toParserLeniencyRuleHit(leniency, path), data: { path, text, value } }
    }
  },
})
