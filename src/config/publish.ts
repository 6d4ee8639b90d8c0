// The settings for catalog images: where each catalog is published, how its image is built, and how long old images are
// kept. A bot administrator limits where catalog-bot's credentials can push to (docs/how-to/publish.md).
import { z } from 'zod'
import {
  disabledByDefault,
  durationOrOffSchema,
  durationSchema,
  enabledByDefault,
  optionalText,
  requiredText,
  section,
} from './setting-schemas.ts'

/** Preview tags, and no others, start like this, so that a user who can only create previews can't move other tags. */
const previewTagPattern = /^pr-(?:\d|\{number\})/

function createTagTemplateSchema(placeholders: readonly string[]) {
  const known = new RegExp(`^(?:[A-Za-z0-9_.-]|\\{(?:${placeholders.join('|')})\\})+$`)
  return z
    .string()
    .max(128)
    .regex(
      known,
      `must consist of letters, digits, "_", ".", "-", and ${placeholders.map((one) => `{${one}}`).join(' ')}`,
    )
}

const createPublishTagSchema = (placeholders: readonly string[]) =>
  createTagTemplateSchema(placeholders).refine((text) => !previewTagPattern.test(text), {
    message: 'must not start with pr- and a number, because such tags are for previews',
  })

const publishEntrySchema = z.strictObject({
  catalog: requiredText(
    'Path to the catalog directory, relative to the root of the repository, or a glob for several directories, such as `catalogs/*`.',
  ),
  branch: optionalText(
    'Branch to publish from: the default branch, or a branch that matches `branches`. Default: the default branch.',
  ),
  repository: requiredText(
    'Image repository, such as `quay.io/my-organization/catalog`. A bot administrator must also allow this repository.',
  ),
  tags: z
    .array(createPublishTagSchema(['name', 'version']))
    .min(1)
    .max(20)
    .describe(
      'Tags that refer to the latest image of the catalog, such as `latest` or `v{version}`. After a rollback, the tags refer to the restored image. {version} is the platform version of the catalog, and {name} is the last segment of its directory path. A tag must not start with `pr-` and a number.',
    ),
  base: z
    .string()
    .min(1)
    .default('quay.io/operator-framework/opm:latest')
    .describe('Base image, which contains opm. `scratch` means no base image.'),
  platforms: z
    .array(
      z
        .string()
        .regex(
          /^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9]+)?$/,
          'must have the form OS/ARCHITECTURE, such as linux/amd64',
        ),
    )
    .default([])
    .describe(
      'Platforms of the image, such as `linux/amd64`. If empty, the image supports all platforms of the base image.',
    ),
  cache: enabledByDefault('Whether the image contains the cache that lets `opm serve` start immediately.'),
  compression: z.enum(['gzip', 'none']).default('gzip').describe('Compression of the catalog layer.'),
  format: z.enum(['oci', 'docker']).default('oci').describe('Format of the image manifests.'),
  rebase: durationOrOffSchema
    .default('off')
    .describe(
      'How often catalog-bot checks the base image for a new digest and rebases the catalog image onto it, in hours or days (`12h`, `7d`), or `off`.',
    ),
  retention: section('Retention of earlier images.', {
    keep: z
      .number()
      .int()
      .min(0)
      .max(1000)
      .default(5)
      .describe(
        'Number of earlier images to keep for `/rollback`. If 0, earlier images do not get a separate tag.',
      ),
    tag: createPublishTagSchema(['name', 'version', 'commit'])
      .refine((text) => text.includes('{commit}'), { message: 'must contain {commit}' })
      .default('{name}-{commit}')
      .describe(
        'Additional tag for every published image, so that registries keep the image. It must contain {commit}, and can contain {name} and {version}. The tag is not used if `retention.keep` is 0.',
      ),
  }),
  preview: z
    .strictObject({
      automatic: disabledByDefault(
        'Whether catalog-bot publishes a preview as soon as all checks on a pull request pass and all required people have approved. Otherwise, catalog-bot publishes a preview when an owner or a maintainer comments `/preview`.',
      ),
      tag: createTagTemplateSchema(['number', 'name', 'version'])
        .regex(/^pr-\{number\}(?:$|-)/, 'must be pr-{number} or start with pr-{number}-')
        .default('pr-{number}-{name}')
        .describe(
          'Tag for previews. It must be `pr-{number}` or start with `pr-{number}-`, and can contain {name} and {version}.',
        ),
      expires: durationSchema
        .default('7d')
        .describe(
          'Maximum age of a preview, in hours or days. catalog-bot removes the preview earlier if the pull request is closed.',
        ),
    })
    .optional()
    .describe(
      'Preview images for pull requests. If this section is absent, catalog-bot does not publish previews.',
    ),
  environment: z
    .string()
    .min(1)
    .max(200)
    .default('catalog {name}')
    .describe('GitHub deployment environment. The value can contain the placeholders {name} and {version}.'),
})

export const publishSchema = z
  .array(publishEntrySchema)
  .max(200)
  .default([])
  .describe(
    'Catalog images that catalog-bot builds and pushes. catalog-bot reads this setting only from the default branch.',
  )

export type PublishEntry = z.output<typeof publishEntrySchema>

/** Converts `12h` or `7d` to milliseconds, and `off` to undefined. */
export function parseDurationToMs(text: string): number | undefined {
  if (text === 'off') return undefined
  return Number(text.slice(0, -1)) * (text.endsWith('d') ? 24 : 1) * 3600_000
}
