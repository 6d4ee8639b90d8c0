// A custom blob for a package that the catalog lacks. opm checks only its own schemas.
import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'
import { similarName } from '../similar-name.ts'
import { isTemplate } from './template-in-catalog.ts'

export const unknownPackageInCustomBlob = defineRule<
  { schema: string; name: string; near: string },
  OfCatalog
>({
  id: 'unknown-package-in-custom-blob',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Custom blobs name packages that the catalog has',
  say: ({ schema, name, near }) => ({
    what: `a blob of schema "${schema}" names package "${name}", which the catalog does not have`,
    why: 'Whoever reads such blobs finds them by their package, so this one is never found.',
    fix: near === '' ? 'Correct the package, or remove the blob.' : `Did you mean "${near}"?`,
  }),
  *find(view) {
    let guesses = mostGuesses
    const names = new Set(view.catalog.packages.map(({ name }) => name))
    for (const { schema, package: name, name: own, place } of view.catalog.others) {
      if (name === '' || names.has(name) || isTemplate(schema)) continue
      const near = (guesses-- > 0 ? similarName(name, names) : undefined) ?? ''
      yield { at: placeOf(place), about: [name, schema, own], data: { schema, name, near } }
    }
  },
})

/** Each guess compares with every package. */
const mostGuesses = 100
