// What the configuration says of catalog images: which catalog goes where, how it is built, and for how long old images
// stay. Where our credentials may push at all is not said here but by whoever runs the App (docs/publishing.md).
import { z } from 'zod'

/** Tags of previews begin so, and no other tag of ours does: whoever may make previews moves no tag that users follow. */
const previewTagPattern = /^pr-(?:\d|\{number\})/

const intervalPattern = /^(?:off|[1-9][0-9]{0,3}[hd])$/
const durationPattern = /^[1-9][0-9]{0,3}[hd]$/

function templateSchema(placeholders: readonly string[]) {
  const known = new RegExp(`^(?:[A-Za-z0-9_.-]|\\{(?:${placeholders.join('|')})\\})+$`)
  return z
    .string()
    .max(128)
    .regex(
      known,
      `must consist of letters, digits, _ . - and ${placeholders.map((one) => `{${one}}`).join(' ')}`,
    )
}

const tagSchema = (placeholders: readonly string[]) =>
  templateSchema(placeholders).refine((text) => !previewTagPattern.test(text), {
    message: 'must not begin with pr- and a number: such tags are for previews',
  })

const publishEntrySchema = z.strictObject({
  catalog: z
    .string()
    .min(1)
    .describe('Directory of the catalog from the root of the repository, or a glob of several: catalogs/*.'),
  branch: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Branch that is published: the default branch, or one that `branches` names. Default: the default branch.',
    ),
  repository: z
    .string()
    .min(1)
    .describe(
      'Image repository such as quay.io/my-organization/catalog. The operator of the App must allow it, too.',
    ),
  tags: z
    .array(tagSchema(['name', 'version']))
    .min(1)
    .max(20)
    .describe(
      'Tags that follow the catalog, such as latest or v{version}. {version}: the platform version of the catalog; {name}: the last part of its directory.',
    ),
  base: z
    .string()
    .min(1)
    .default('quay.io/operator-framework/opm:latest')
    .describe('Image with opm in it that the catalog is put on; `scratch`: none.'),
  platforms: z
    .array(z.string().regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9]+)?$/, 'must look like linux/amd64'))
    .default([])
    .describe('Platforms of the image, such as linux/amd64. Empty: all of the base.'),
  cache: z
    .boolean()
    .default(true)
    .describe('Whether the image holds the cache with which `opm serve` starts at once.'),
  compression: z.enum(['gzip', 'none']).default('gzip').describe('How the layer with the catalog is packed.'),
  format: z.enum(['oci', 'docker']).default('oci').describe('Format of the manifests.'),
  rebase: z
    .string()
    .regex(intervalPattern, 'must be off, or hours or days such as 12h or 7d')
    .default('off')
    .describe('How often the bot looks for a new digest of the base and puts the same catalog on it.'),
  retention: z
    .strictObject({
      keep: z
        .number()
        .int()
        .min(0)
        .max(1000)
        .default(5)
        .describe('Former images that stay, for /rollback. 0: they get no tag of their own.'),
      tag: tagSchema(['name', 'version', 'commit'])
        .refine((text) => text.includes('{commit}'), { message: 'must contain {commit}' })
        .default('{name}-{commit}')
        .describe('Tag that every published image gets besides, so that registries keep it.'),
    })
    .prefault({})
    .describe('What becomes of former images.'),
  preview: z
    .strictObject({
      automatic: z
        .boolean()
        .default(false)
        .describe(
          'Whether pull requests get a preview as soon as all checks pass; otherwise when an owner or maintainer comments /preview.',
        ),
      tag: templateSchema(['number', 'name', 'version'])
        .regex(/^pr-\{number\}(?:$|-)/, 'must be pr-{number}, or begin with pr-{number}-')
        .default('pr-{number}-{name}')
        .describe('Tag of previews.'),
      expires: z
        .string()
        .regex(durationPattern, 'must be hours or days such as 12h or 7d')
        .default('7d')
        .describe('How long a preview stays at most. It goes earlier when the pull request is closed.'),
    })
    .optional()
    .describe('Preview images for pull requests. Absent: none.'),
  environment: z
    .string()
    .min(1)
    .max(200)
    .default('catalog {name}')
    .describe('Environment under which GitHub lists the deployment, with {name} and {version}.'),
})

export const publishSchema = z
  .array(publishEntrySchema)
  .max(200)
  .default([])
  .describe('Catalog images that the bot builds and pushes. Read from the default branch only.')

export type PublishEntry = z.output<typeof publishEntrySchema>

/** Milliseconds of `12h` or `7d`; undefined for `off`. */
export function parseDuration(text: string): number | undefined {
  if (text === 'off') return undefined
  return Number(text.slice(0, -1)) * (text.endsWith('d') ? 24 : 1) * 3600_000
}
