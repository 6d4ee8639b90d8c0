// Schemas of `ci.yaml` and `release-config.yaml` in the format of operator-pipelines; see docs/bundle-directories.md.
import { z } from 'zod'

const text = z.string().min(1)
/** YAML reads a login or id of digits as a number. */
const name = z.union([text, z.number()])

const updateGraphs = ['replaces-mode', 'semver-mode', 'semver-skippatch'] as const

export const ciYamlSchema = z.strictObject({
  updateGraph: z.enum(updateGraphs).nullish(),
  reviewers: z.array(name).nullish(),
  addReviewers: z.boolean().nullish(),
  merge: z.boolean().nullish(),
  cert_project_id: name.nullish(),
  packagemanifestClusterVersionLabel: z.union([text, z.boolean()]).nullish(),
  fbc: z
    .strictObject({
      enabled: z.boolean().optional(),
      version_promotion_strategy: z.enum(['never', 'review-needed', 'always']).optional(),
      catalog_mapping: z.array(
        z.strictObject({
          template_name: text,
          type: z.enum(['olm.template.basic', 'olm.semver']),
          catalog_names: z.array(text).min(1),
        }),
      ),
    })
    .nullish(),
})

export type CiYaml = z.output<typeof ciYamlSchema>

const distinct = z
  .array(text)
  .min(1)
  .refine((list) => new Set(list).size === list.length, { message: 'it names one twice' })

export const releaseConfigSchema = z.strictObject({
  merge: z.boolean().optional(),
  catalog_templates: z
    .array(
      z.strictObject({
        template_name: text,
        channels: distinct,
        defaultChannel: text.optional(),
        replaces: text.optional(),
        skips: distinct.optional(),
        skipRange: text.optional(),
      }),
    )
    .min(1),
})

export type ReleaseConfig = z.output<typeof releaseConfigSchema>
