// A template among the files rendered from it.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

/** Schemas of opm's templates, including the retired composite ones. */
const templateSchemaPattern = /^olm\.(?:template\.[\w.-]+|semver|composite(?:\.\w+)?|builder\.\w+)$/

export const templateInCatalog = defineRule<{ schema: string }, CatalogRuleSignature>({
  id: 'template-in-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Templates are stored outside the catalog',
  format: ({ schema }) => ({
    what: `the catalog contains a template (${schema})`,
    why: 'opm keeps the template as a custom blob and does not render it, so its packages are not added to the catalog.',
    fix: 'Move the template out of the catalog (or list it in .indexignore), and commit the output of `catalog-bot render`.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, place } of catalog.others)
      if (templateSchemaPattern.test(schema))
        yield { at: toFindingLocation(place), about: [inPackage, schema, place.file], data: { schema } }
  },
})

/** Other rules about custom schemas skip templates. */
export function isTemplateSchemaName(schema: string): boolean {
  return templateSchemaPattern.test(schema)
}
