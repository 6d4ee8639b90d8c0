// A value that YAML reads differently than it looks, where opm accepts any type. Elsewhere opm refuses the file itself.
import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { toLeniencyHit, listLeniencies } from '../view/leniencies.ts'

export const misreadScalar = defineRule<
  { path: string; text: string; value: number | boolean },
  CatalogRuleKind
>({
  id: 'surprising-scalar',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Values without quotes mean what they look like',
  format: ({ path, text, value }) => ({
    what: `${path}: ${text} is read as the ${typeof value} ${String(value)}`,
    why: 'YAML guesses the type of text without quotes, and everything behind it sees only the guess.',
    fix: `Write '${text}' in quotes if text is meant, ${String(value)} if the ${typeof value} is.`,
  }),
  *find(catalog) {
    for (const leniency of listLeniencies(catalog, 'scalar')) {
      // max-openshift-version covers the platform's version.
      const index = /^properties\[(\d+)\]\.value$/i.exec(leniency.path)?.[1]
      const bundle =
        index === undefined ? undefined : catalog.package(leniency.package)?.bundle(leniency.name)
      if (bundle?.blob.properties[Number(index)]?.type === 'olm.maxOpenShiftVersion') continue
      const { path, text, value } = leniency
      yield { ...toLeniencyHit(leniency, path), data: { path, text, value } }
    }
  },
})
