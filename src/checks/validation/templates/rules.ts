import { defineRule } from '@catalog-bot/findings/rule'
import { formatTruncatedClauses } from '@catalog-bot/findings/printable'

export interface TemplateDrift {
  readonly template: string
  readonly catalog: string
  /** A short phrase for each difference: `channel stable is missing`. */
  readonly differences: readonly string[]
  readonly command: string
  readonly files: number
}

/** The rest is counted; rendering the template shows all. */
const maxListedTemplateDrifts = 8

export const catalogDiffersFromTemplateRule = defineRule<TemplateDrift>({
  id: 'catalog-differs-from-template',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A catalog matches the output of its template',
  what: ({ template, catalog, differences }) =>
    `${catalog} does not match the output of ${template}: ${formatTruncatedClauses(differences, maxListedTemplateDrifts)}`,
  why: 'A change made only in the template does not reach users, and a change made only in the catalog is lost when the template is rendered again.',
  fix: ({ command, files }) =>
    `Make the change in the template, and commit the output of this command${
      files > 1 ? ` in place of the ${files} existing files` : ''
    }: ${command}`,
})

interface UnrenderableTemplate {
  readonly template: string
  readonly catalog: string
  /** opm's error message, if there is one. */
  readonly reason: string
}

export const unrenderableTemplateRule = defineRule<UnrenderableTemplate>({
  id: 'unrenderable-template',
  check: 'validation',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Every template can be rendered',
  what: ({ template, reason }) => `${template} cannot be rendered: ${reason}`,
  why: ({ catalog }) =>
    `${catalog} can no longer be generated from the template, and catalog-bot cannot check that they match.`,
  fix: 'Fix the template so that `catalog-bot render` or `opm alpha render-template` accepts it.',
})
