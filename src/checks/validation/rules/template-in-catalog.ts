// A template among the files rendered from it.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

/** Schemas of opm's templates, including the retired composite ones. */
const templateSchemaPattern = /^olm\.(?:template\.[\w.-]+|semver|composite(?:\.\w+)?|builder\.\w+)$/

export const templateInCatalog = defineRule<{ schema: string }, CatalogRuleKind>({
  id: 'template-in-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Templates stand beside the catalog, not in it',
  format: ({ schema }) => ({
    what: `a template (${schema}) lies in the catalog`,
    why: 'opm keeps it as a custom blob and renders nothing from it: what it describes is not in the catalog because of it.',
    fix: 'Move it out of the catalog (or name it in .indexignore), and commit what `render` makes of it.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, place } of catalog.others)
      if (templateSchemaPattern.test(schema))
        yield { at: toLocation(place), about: [inPackage, schema, place.file], data: { schema } }
  },
})

/** Other rules about custom schemas skip templates. */
export function isTemplateSchemaName(schema: string): boolean {
  return templateSchemaPattern.test(schema)
}
