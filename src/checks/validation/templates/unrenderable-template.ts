import { defineRule } from '@catalog-bot/findings/rule'

export interface UnrenderableTemplate {
  readonly template: string
  readonly catalog: string
  /** opm's error message, if there is one. */
  readonly reason: string
}

export const unrenderableTemplate = defineRule<UnrenderableTemplate>({
  id: 'unrenderable-template',
  check: 'validation',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Every template can be rendered',
  format: ({ template, catalog, reason }) => ({
    what: `${template} cannot be rendered: ${reason}`,
    why: `${catalog} can no longer be generated from the template, and catalog-bot cannot check that they match.`,
    fix: 'Fix the template so that `catalog-bot render` or `opm alpha render-template` accepts it.',
  }),
})
