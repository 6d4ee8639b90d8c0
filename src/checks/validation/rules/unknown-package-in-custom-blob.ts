// A custom blob for a package that the catalog lacks. opm checks only its own schemas.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { findSimilarName } from '../similar-name.ts'
import { isTemplateSchemaName } from './template-in-catalog.ts'

export const unknownPackageInCustomBlob = defineRule<
  { schema: string; name: string; near: string },
  CatalogRuleSignature
>({
  id: 'unknown-package-in-custom-blob',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Custom blobs refer to packages in the catalog',
  format: ({ schema, name, near }) => ({
    what: `a blob with schema "${schema}" refers to package "${name}", which is not in the catalog`,
    why: 'Tools look up custom blobs by package, so they never find this blob.',
    fix: near === '' ? 'Correct the package name, or remove the blob.' : `Did you mean "${near}"?`,
  }),
  *find(view) {
    let guesses = maxPackageNameCandidates
    const names = new Set(view.catalog.packages.map(({ name }) => name))
    for (const { schema, package: name, name: own, place } of view.catalog.others) {
      if (name === '' || names.has(name) || isTemplateSchemaName(schema)) continue
      const near = (guesses-- > 0 ? findSimilarName(name, names) : undefined) ?? ''
      yield { at: toFindingLocation(place), about: [name, schema, own], data: { schema, name, near } }
    }
  },
})

/** Each guess compares with every package. */
const maxPackageNameCandidates = 100
