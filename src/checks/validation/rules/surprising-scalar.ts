// A value that YAML reads differently than it looks, where opm accepts any type. Elsewhere opm refuses the file itself.
import { defineRule } from '../../../findings/rule.ts'
import type { OfCatalog } from '../catalog-rule.ts'
import { aboutOddity, odditiesOf } from '../view/oddities.ts'

export const surprisingScalar = defineRule<
  { path: string; text: string; value: number | boolean },
  OfCatalog
>({
  id: 'surprising-scalar',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Values without quotes mean what they look like',
  say: ({ path, text, value }) => ({
    what: `${path}: ${text} is read as the ${typeof value} ${String(value)}`,
    why: 'YAML guesses the type of text without quotes, and everything behind it sees only the guess.',
    fix: `Write '${text}' in quotes if text is meant, ${String(value)} if the ${typeof value} is.`,
  }),
  *find(catalog) {
    for (const oddity of odditiesOf(catalog, 'scalar')) {
      // max-openshift-version covers the platform's version.
      const index = /^properties\[(\d+)\]\.value$/i.exec(oddity.path)?.[1]
      const bundle = index === undefined ? undefined : catalog.package(oddity.package)?.bundle(oddity.name)
      if (bundle?.blob.properties[Number(index)]?.type === 'olm.maxOpenShiftVersion') continue
      const { path, text, value } = oddity
      yield { ...aboutOddity(oddity, path), data: { path, text, value } }
    }
  },
})
