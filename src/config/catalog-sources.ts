// The settings for releasing bundle directories: the image name of each, and whether catalog-bot opens the pull request that
// adds the bundle to catalogs.
import { z } from 'zod'
import { disabledByDefault, section } from './setting-schemas.ts'

/** A placeholder such as `{version}` matches any part of one directory or file name. */
export const pathPlaceholderPattern = /\{([A-Za-z][A-Za-z0-9]*)\}/g

/** Which catalogs are rendered from which templates. Both paths must contain the same placeholders, in any order. */
export const templatesSchema = z
  .array(
    z
      .strictObject({
        template: createTemplatePathSchema().describe(
          'Path to the template file, relative to the root of the repository. A placeholder such as {name} matches any part of one directory or file name. A placeholder has the same value wherever it occurs.',
        ),
        catalog: createTemplatePathSchema().describe(
          'Path to the directory or file that is rendered from the template, such as `catalogs/{version}/{name}`. This path must contain every placeholder of the template path.',
        ),
        offer: z
          .enum(['none', 'patch'])
          .default('none')
          .describe(
            'Type of fix that the comment suggests if a catalog differs from its template. `patch`: a small patch, if the base branch already contains all bundles.',
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

const bundleImagePlaceholderPattern = /\{(?:package|version)\}/g

export const bundleImageSchema = z
  .string()
  .max(300)
  .regex(
    /^[a-z0-9.-]+(?::[0-9]{1,5})?(?:\/(?:[a-z0-9._-]|\{package\})+)+:(?:[A-Za-z0-9._-]|\{package\}|\{version\})+$/,
    'must consist of a registry, a repository, and a tag, such as quay.io/org/{package}:{version}',
  )
  .refine((pattern) => pattern.includes('{version}'), {
    message: 'must contain {version} in its tag; otherwise, every version would have the same image',
  })
  .describe(
    'Name of the image that is built from a bundle directory, such as `quay.io/org/{package}:{version}`. `{package}` is the directory in `operators/`, and `{version}` is the name of the bundle’s directory. Until the image is built, comments show this name. Without `bundles.image`, comments show a name in `not-built.invalid`.',
  )

export const bundleReleaseSchema = section(
  'Settings for the pull requests that add merged bundle directories to catalogs.',
  {
    enabled: disabledByDefault(
      'Whether catalog-bot opens a pull request that adds a merged bundle to the templates and catalogs in its `release-config.yaml`. catalog-bot waits until the bundle image is in the registry. This setting applies to directories that are merged after you enable it. Requires `bundles.image`.',
    ),
    wait: z
      .string()
      .regex(/^[1-9][0-9]{0,2}[hd]$/, 'must be a number of hours or days, such as 12h or 2d')
      .default('24h')
      .describe(
        'How long catalog-bot waits for a bundle image before it reports the delay on the pull request that added the bundle directory. catalog-bot continues to check for the image until two weeks after the merge.',
      ),
  },
)

/**
 * The image of a bundle directory. Undefined if the names of its directories, which any pull request can choose, are not valid in
 * an image reference.
 */
export function expandBundleImageTemplate(pattern: string, directory: string, version: string) {
  if (!/^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(directory) || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(version))
    return undefined
  const image = pattern.replaceAll(bundleImagePlaceholderPattern, (name) =>
    name === '{package}' ? directory : version,
  )
  const tag = image.slice(image.lastIndexOf(':') + 1)
  return image.length <= 400 && tag.length <= 128 ? image : undefined
}

function createTemplatePathSchema() {
  return z
    .string()
    .regex(
      /^(?!\/|\.\.?\/)[^*?\\]*[^*?\\/]$/,
      'must be a path relative to the root of the repository, without * or ?',
    )
}

function findPathPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(pathPlaceholderPattern)].map((match) => match[1] ?? '')
}
