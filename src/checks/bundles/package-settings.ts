// Schemas of `ci.yaml` and `release-config.yaml` in the format of operator-pipelines; see docs/bundle-directories.md.
import { z } from 'zod'

const nonEmptyStringSchema = z.string().min(1)
/** YAML parses a login or ID that consists of digits as a number. */
const loginSchema = z.union([nonEmptyStringSchema, z.number()])

const updateGraphModes = ['replaces-mode', 'semver-mode', 'semver-skippatch'] as const

export const ciYamlSchema = z.strictObject({
  updateGraph: z.enum(updateGraphModes).nullish(),
  reviewers: z.array(loginSchema).nullish(),
  addReviewers: z.boolean().nullish(),
  merge: z.boolean().nullish(),
  cert_project_id: loginSchema.nullish(),
  packagemanifestClusterVersionLabel: z.union([nonEmptyStringSchema, z.boolean()]).nullish(),
  fbc: z
    .strictObject({
      enabled: z.boolean().optional(),
      version_promotion_strategy: z.enum(['never', 'review-needed', 'always']).optional(),
      catalog_mapping: z.array(
        z.strictObject({
          template_name: nonEmptyStringSchema,
          type: z.enum(['olm.template.basic', 'olm.semver']),
          catalog_names: z.array(nonEmptyStringSchema).min(1),
        }),
      ),
    })
    .nullish(),
})

export type PackageCiYaml = z.output<typeof ciYamlSchema>

const distinctStringListSchema = z
  .array(nonEmptyStringSchema)
  .min(1)
  .refine((list) => new Set(list).size === list.length, { message: 'the list contains a duplicate' })

export const releaseConfigSchema = z.strictObject({
  merge: z.boolean().optional(),
  catalog_templates: z
    .array(
      z.strictObject({
        template_name: nonEmptyStringSchema,
        channels: distinctStringListSchema,
        defaultChannel: nonEmptyStringSchema.optional(),
        replaces: nonEmptyStringSchema.optional(),
        skips: distinctStringListSchema.optional(),
        skipRange: nonEmptyStringSchema.optional(),
      }),
    )
    .min(1),
})

export type ReleaseConfig = z.output<typeof releaseConfigSchema>
