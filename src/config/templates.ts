// What the configuration says of templates: which catalog is rendered from which. The same placeholders, in braces, on
// both sides; the order in which they stand is free.
import { z } from 'zod'

/** A placeholder stands for any part of one name in a path: `{version}`. */
export const placeholderPattern = /\{([A-Za-z][A-Za-z0-9]*)\}/g

export const templatesSchema = z
  .array(
    z
      .strictObject({
        template: path().describe(
          'Template file, from the root of the repository. A placeholder such as {name} stands for any part of one directory or file name, and is the same wherever it stands.',
        ),
        catalog: path().describe(
          'Directory or file that is rendered from it, with the same placeholders: catalogs/{version}/{name}.',
        ),
        offer: z
          .enum(['none', 'patch'])
          .default('none')
          .describe(
            'What the comment offers beside the command when the catalog is not what the template renders to: a patch shows the difference, where it is small and every bundle of it is one that the base has.',
          ),
      })
      .superRefine(({ template, catalog }, context) => {
        const [ours, theirs] = [placeholders(template), placeholders(catalog)]
        for (const name of new Set([...ours, ...theirs]))
          if (!ours.includes(name) || !theirs.includes(name))
            context.addIssue({
              code: 'custom',
              message: `{${name}} must stand in the template and in the catalog`,
            })
        for (const text of [template, catalog])
          if (/[{}]/.test(text.replace(placeholderPattern, '')))
            context.addIssue({
              code: 'custom',
              message: 'a brace is no part of a placeholder such as {name}',
            })
      }),
  )
  .default([])
  .describe('Which catalogs are rendered from which templates, beside those that the layout tells.')

export type StatedTemplate = z.output<typeof templatesSchema>[number]

function path() {
  return z
    .string()
    .regex(
      /^(?!\/|\.\.?\/)[^*?\\]*[^*?\\/]$/,
      'must be a path from the root of the repository, without * and ?',
    )
}

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(placeholderPattern)].map((match) => match[1] ?? '')
}
