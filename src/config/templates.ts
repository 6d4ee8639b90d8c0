// The settings for templates: which catalogs are rendered from which templates. Both paths must contain the same
// placeholders, in any order.
import { z } from 'zod'

/** A placeholder such as `{version}` matches any part of one directory or file name. */
export const pathPlaceholderPattern = /\{([A-Za-z][A-Za-z0-9]*)\}/g

export const templatesSchema = z
  .array(
    z
      .strictObject({
        template: createTemplatePathSchema().describe(
          'Path of the template file, relative to the root of the repository. A placeholder such as {name} matches any part of one directory or file name. It has the same value wherever it occurs.',
        ),
        catalog: createTemplatePathSchema().describe(
          'Directory or file that is rendered from the template, with the same placeholders, such as `catalogs/{version}/{name}`.',
        ),
        offer: z
          .enum(['none', 'patch'])
          .default('none')
          .describe(
            'Fix that the comment suggests if a catalog differs from its template. `patch`: a small patch, if the base branch already contains all bundles.',
          ),
      })
      .superRefine(({ template, catalog }, context) => {
        const [ours, theirs] = [findPathPlaceholders(template), findPathPlaceholders(catalog)]
        for (const name of new Set([...ours, ...theirs]))
          if (!ours.includes(name) || !theirs.includes(name))
            context.addIssue({
              code: 'custom',
              message: `the placeholder {${name}} must occur in both the template and the catalog`,
            })
        for (const text of [template, catalog])
          if (/[{}]/.test(text.replace(pathPlaceholderPattern, '')))
            context.addIssue({
              code: 'custom',
              message: 'braces are allowed only in placeholders such as {name}',
            })
      }),
  )
  .default([])
  .describe(
    'Templates and the catalogs that are rendered from them, in addition to those that catalog-bot finds based on the repository layout.',
  )

export type TemplateConfig = z.output<typeof templatesSchema>[number]

function createTemplatePathSchema() {
  return z
    .string()
    .regex(
      /^(?!\/|\.\.?\/)[^*?\\]*[^*?\\/]$/,
      'must be a path relative to the root of the repository, without * and ?',
    )
}

function findPathPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(pathPlaceholderPattern)].map((match) => match[1] ?? '')
}
