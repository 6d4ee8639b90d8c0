// What the configuration says of templates: which catalog is rendered from which. The same placeholders, in braces, on
// both sides; the order in which they stand is free.
import { z } from 'zod'

/** A placeholder stands for any part of one name in a path: `{version}`. */
export const placeholderPattern = /\{([A-Za-z][A-Za-z0-9]*)\}/g

export const templatesSchema = z
  .array(
    z
      .strictObject({
        template: pathSchema().describe(
          'Template file, from the root of the repository. A placeholder such as {name} stands for any part of one directory or file name, and is the same wherever it stands.',
        ),
        catalog: pathSchema().describe(
          'Directory or file that is rendered from it, with the same placeholders: catalogs/{version}/{name}.',
        ),
        offer: z
          .enum(['none', 'patch'])
          .default('none')
          .describe(
            'What the comment offers when a catalog differs from its template. `patch`: a small patch, if the base already has all its bundles.',
          ),
      })
      .superRefine(({ template, catalog }, context) => {
        const [ours, theirs] = [findPlaceholders(template), findPlaceholders(catalog)]
        for (const name of new Set([...ours, ...theirs]))
          if (!ours.includes(name) || !theirs.includes(name))
            context.addIssue({
              code: 'custom',
              message: `{${name}} must be in both the template and the catalog`,
            })
        for (const text of [template, catalog])
          if (/[{}]/.test(text.replace(placeholderPattern, '')))
            context.addIssue({
              code: 'custom',
              message: 'a brace must belong to a placeholder such as {name}',
            })
      }),
  )
  .default([])
  .describe('Which catalogs are rendered from which templates, besides those that the layout shows.')

export type TemplateConfig = z.output<typeof templatesSchema>[number]

function pathSchema() {
  return z
    .string()
    .regex(
      /^(?!\/|\.\.?\/)[^*?\\]*[^*?\\/]$/,
      'must be a path from the root of the repository, without * and ?',
    )
}

function findPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(placeholderPattern)].map((match) => match[1] ?? '')
}
