import { defineRule } from '../../../findings/rule.ts'

export interface UnrenderableTemplate {
  readonly template: string
  readonly catalog: string
  /** In opm's words if it has some. */
  readonly reason: string
}

export const unrenderableTemplate = defineRule<UnrenderableTemplate>({
  id: 'unrenderable-template',
  check: 'validation',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A template can be rendered',
  format: ({ template, catalog, reason }) => ({
    what: `${template} cannot be rendered: ${reason}`,
    why: `${catalog} cannot be made from it any more, and nobody can tell whether the two agree.`,
    fix: 'Repair the template until `catalog-bot render` (or `opm alpha render-template`) takes it.',
  }),
})
