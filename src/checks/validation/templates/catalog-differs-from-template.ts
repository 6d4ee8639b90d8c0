import { defineRule } from '../../../findings/rule.ts'

export interface TemplateDrift {
  readonly template: string
  readonly catalog: string
  /** A few words each: `channel stable is missing`. */
  readonly differences: readonly string[]
  readonly command: string
  readonly files: number
}

/** The rest is counted; rendering the template shows all. */
const maxShownDifferences = 8

export const catalogDiffersFromTemplate = defineRule<TemplateDrift>({
  id: 'catalog-differs-from-template',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A catalog is what its template renders to',
  format: ({ template, catalog, differences, command, files }) => ({
    what: `${catalog} is not what ${template} renders to: ${differences.slice(0, maxShownDifferences).join('; ')}${
      differences.length > maxShownDifferences ? `; and ${differences.length - maxShownDifferences} more` : ''
    }`,
    why: 'What changed in the template alone reaches nobody; what changed in the catalog alone is gone the next time somebody renders the template.',
    fix: `Make the change in the template, run: ${command} and commit what it writes${
      files > 1 ? `, instead of the ${files} files that are there` : ''
    }.`,
  }),
})
