// A template among the files rendered from it.
import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'

/** Schemas of opm's templates, including the retired composite ones. */
const templates = /^olm\.(?:template\.[\w.-]+|semver|composite(?:\.\w+)?|builder\.\w+)$/

export const templateInCatalog = defineRule<{ schema: string }, OfCatalog>({
  id: 'template-in-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Templates stand beside the catalog, not in it',
  say: ({ schema }) => ({
    what: `a template (${schema}) lies in the catalog`,
    why: 'opm keeps it as a custom blob and renders nothing from it: what it describes is not in the catalog because of it.',
    fix: 'Move it out of the catalog (or name it in .indexignore), and commit what `render` makes of it.',
  }),
  *find({ catalog }) {
    for (const { schema, package: inPackage, place } of catalog.others)
      if (templates.test(schema))
        yield { at: placeOf(place), about: [inPackage, schema, place.file], data: { schema } }
  },
})

/** Other rules about custom schemas skip templates. */
export function isTemplate(schema: string): boolean {
  return templates.test(schema)
}
