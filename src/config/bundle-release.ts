// What the configuration says of bundle directories on their way into catalogs: where the image of each will be, and whether
// the bot opens the pull request that adds it.
import { z } from 'zod'

const placeholderPattern = /\{(?:package|version)\}/g

export const bundleImageSchema = z
  .string()
  .max(300)
  .regex(
    /^[a-z0-9.-]+(?::[0-9]{1,5})?(?:\/(?:[a-z0-9._-]|\{package\})+)+:(?:[A-Za-z0-9._-]|\{package\}|\{version\})+$/,
    'must be a registry, a repository and a tag, such as quay.io/org/{package}:{version}',
  )
  .refine((pattern) => pattern.includes('{version}'), {
    message: 'must have {version} in its tag, or every version would be the same image',
  })
  .describe(
    'Where the image of a bundle directory will be, once it is built: `quay.io/org/{package}:{version}`. `{package}` is the directory below `operators/`, `{version}` the name of the bundle’s directory. Until it is built, comments show this name; without it one below `not-built.invalid`.',
  )

export const releaseSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether the bot opens a pull request that adds a bundle to the templates and catalogs that its `release-config.yaml` names, once the directory is merged and its image is in the registry. It counts for what is merged from then on. Needs `bundles.image`.',
      ),
    wait: z
      .string()
      .regex(/^[1-9][0-9]{0,2}[hd]$/, 'must be hours or days such as 12h or 2d')
      .default('24h')
      .describe(
        'How long the bot waits for the image before it says so on the pull request that brought the directory. It goes on asking.',
      ),
  })
  .prefault({})
  .describe('Pull requests of the bot that add merged bundle directories to the catalogs.')

/**
 * The image of a bundle directory. Undefined where its names cannot stand in a reference: they are whatever a pull request
 * called its directories.
 */
export function formatBundleImage(pattern: string, directory: string, version: string): string | undefined {
  if (!/^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(directory) || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(version))
    return undefined
  const image = pattern.replaceAll(placeholderPattern, (name) => (name === '{package}' ? directory : version))
  const tag = image.slice(image.lastIndexOf(':') + 1)
  return image.length <= 400 && tag.length <= 128 ? image : undefined
}
