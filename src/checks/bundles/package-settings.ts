// operator-pipelines' `ci.yaml` and `release-config.yaml`, validated (docs/reference/package-settings.md).
import { z } from 'zod'
import type { Location, Finding } from '@catalog-bot/findings/finding'
import type { BundleUpgradeMetadata } from '@catalog-bot/bundle/bundle-upgrade-metadata'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { describeSchemaProblem, findYamlOffset, parseYamlDocument } from '../../config/text-problems.ts'
import type { PackageSettingsFile, PackageDirectoryState } from './post-release-catalog.ts'
import type { UpdateGraphMode } from '@catalog-bot/fbc/graph/derive-channels'
import { createFinding } from '@catalog-bot/findings/rule'
import { findSimilarName } from '../validation/names.ts'
import {
  malformedPackageSettingsRule,
  noUpdateGraphRule,
  releaseConfigMismatchRule,
  unknownPackageSettingRule,
} from './rules.ts'

export const indexDirectoriesByBundleName = memoizePerObject(
  ({
    bundles = new Map<string, BundleUpgradeMetadata>(),
  }: PackageDirectoryState): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, string[]>()
    for (const [version, { name }] of bundles)
      if (name) found.set(name.text, [...(found.get(name.text) ?? []), version])
    return found
  },
)

/** Reads YAML settings against a schema and locates every problem. */
interface PackageSettingsParseResult<T> {
  /** Absent if the file is invalid. */
  readonly value?: T
  readonly problems: readonly { readonly at: Location; readonly problem: string }[]
  /** Keys that the schema does not define. The other values remain usable. */
  readonly unknown: readonly { readonly at: Location; readonly key: string; readonly path: string }[]
  /** The location of a value, or of its nearest existing parent. */
  readonly locationOf: (path: PackageSettingsKeyPath) => Location
}

type PackageSettingsKeyPath = readonly (string | number)[]

const nonEmptyStringSchema = z.string().min(1)
/** YAML parses a login or ID that consists of digits as a number. */
const loginOrIdSchema = z.union([nonEmptyStringSchema, z.number()])

const updateGraphModes = ['replaces-mode', 'semver-mode', 'semver-skippatch'] as const

export const ciYamlSchema = z.strictObject({
  updateGraph: z.enum(updateGraphModes).nullish(),
  reviewers: z.array(loginOrIdSchema).nullish(),
  addReviewers: z.boolean().nullish(),
  merge: z.boolean().nullish(),
  cert_project_id: loginOrIdSchema.nullish(),
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

const uniqueStringListSchema = z
  .array(nonEmptyStringSchema)
  .min(1)
  .refine((list) => new Set(list).size === list.length, { message: 'the list contains a duplicate' })

export const releaseConfigSchema = z.strictObject({
  merge: z.boolean().optional(),
  catalog_templates: z
    .array(
      z.strictObject({
        template_name: nonEmptyStringSchema,
        channels: uniqueStringListSchema,
        defaultChannel: nonEmptyStringSchema.optional(),
        replaces: nonEmptyStringSchema.optional(),
        skips: uniqueStringListSchema.optional(),
        skipRange: nonEmptyStringSchema.optional(),
      }),
    )
    .min(1),
})

/** If `isYaml` is false, there is exactly one problem. */
export function parsePackageSettings<T>(
  file: PackageSettingsFile,
  schema: z.ZodType<T>,
): PackageSettingsParseResult<T> & { readonly isYaml: boolean } {
  const { data, locationOf, problem: yamlProblem } = parseSettingsYaml(file)
  if (yamlProblem) return { isYaml: false, problems: [yamlProblem], unknown: [], locationOf }
  const unknown: { at: Location; key: string; path: string }[] = []
  const problems: { at: Location; problem: string }[] = []
  const parsed = schema.safeParse(data, { error: describeSchemaProblem })
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys)
        unknown.push({ at: locationOf([...path, key]), key, path: [...path, key].join('.') })
    else problems.push({ at: locationOf(path), problem: `${path.join('.') || 'the file'}: ${issue.message}` })
  }
  return {
    isYaml: true,
    problems,
    unknown,
    locationOf,
    // The rest is read despite unknown keys.
    ...(parsed.success
      ? { value: parsed.data }
      : problems.length === 0 && { value: schema.parse(omitUnrecognizedKeys(data, parsed.error.issues)) }),
  }
}

/** One evaluation reads the settings of a file in several places. */
const parseSettingsYaml = memoizePerObject(({ path: file, text }: PackageSettingsFile) => {
  const { document, locate, problem } = parseYamlDocument(file, text)
  // Points to the key, because its value may begin on another line.
  const locationOf = (path: PackageSettingsKeyPath) => locate(findYamlOffset(document, path, 'key'))
  const data: unknown = problem === undefined ? (document?.toJS() ?? {}) : undefined
  return { data, locationOf, problem }
})

function omitUnrecognizedKeys(data: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(data))
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    let holder: unknown = copy
    for (const step of issue.path) holder = (holder as Record<PropertyKey, unknown>)[step]
    for (const key of issue.keys) delete (holder as Record<string, unknown>)[key]
  }
  return copy
}

/** The touched bundles, without removed ones. */
export function listAddedAndModifiedBundles({ touched, bundles }: PackageDirectoryState) {
  return touched.flatMap((bundle) => {
    const facts = bundle.kind === 'removed' ? undefined : bundles?.get(bundle.version)
    return facts ? [{ bundle, facts }] : []
  })
}

/** Names to look up in catalogs: removed bundles, and upgrade targets that are in no directory. */
export function listBundleNamesForCatalogLookup(sources: PackageDirectoryState): ReadonlySet<string> {
  if (sources.bundles === undefined) return new Set()
  const known = indexDirectoriesByBundleName(sources)
  const edges = listAddedAndModifiedBundles(sources).flatMap(({ facts: { replaces, skips } }) =>
    [...(replaces ? [replaces] : []), ...skips].map(({ text }) => text),
  )
  const released = sources.releaseConfigs.flatMap((file) =>
    (parsePackageSettings(file, releaseConfigSchema).value?.catalog_templates ?? []).flatMap(
      ({ replaces, skips = [] }) => [...(replaces === undefined ? [] : [replaces]), ...skips],
    ),
  )
  const removed = sources.touched.flatMap(({ removed: removedBundle }) =>
    removedBundle?.name ? [removedBundle.name.text] : [],
  )
  return new Set([...[...edges, ...released].filter((name) => !known.has(name)), ...removed])
}

/** Follows upgrade edges of bundle directories into other directories or catalogs. */
export function isBundleInDirectoryOrCatalog(name: string, sources: PackageDirectoryState): boolean {
  return indexDirectoriesByBundleName(sources).has(name) || sources.catalogs.has(name)
}

/** The cycle of `replaces` through this bundle, starting and ending with it. Undefined without a cycle. */
export function findReplacesCycle(
  name: string,
  sources: PackageDirectoryState,
): readonly string[] | undefined {
  const byName = indexDirectoriesByBundleName(sources)
  const path = [name]
  const seen = new Set(path)
  for (;;) {
    const [version] = byName.get(path.at(-1) ?? '') ?? []
    const next = version === undefined ? undefined : sources.bundles?.get(version)?.replaces?.text
    if (next === undefined) return undefined
    path.push(next)
    if (next === name) return path.length > 2 ? path : undefined
    // This cycle does not include the bundle.
    if (seen.has(next)) return undefined
    seen.add(next)
  }
}

/** Undefined if unreadable. */
export function parseCiYaml({ ciYaml }: PackageDirectoryState): PackageCiYaml | undefined {
  return ciYaml && parsePackageSettings(ciYaml, ciYamlSchema).value
}

/** Undefined if templates define the graph or ci.yaml is unreadable. */
export function findUpdateGraphMode(ciYaml: PackageSettingsFile | undefined): UpdateGraphMode | undefined {
  if (!ciYaml) return 'replaces-mode'
  const { value } = parsePackageSettings(ciYaml, ciYamlSchema)
  return !value || value.fbc?.enabled === true ? undefined : (value.updateGraph ?? 'replaces-mode')
}

/** Whether the change touches the graph mode but no bundle. */
export function hasUpdateGraphModeChange(
  state: Pick<PackageDirectoryState, 'ciYaml' | 'ciYamlBefore'>,
): boolean {
  const [before, now] = [findUpdateGraphMode(state.ciYamlBefore), findUpdateGraphMode(state.ciYaml)]
  return state.ciYaml?.isTouched === true && before !== undefined && now !== undefined && before !== now
}

export function* validatePackageSettings(
  sources: PackageDirectoryState,
  settings: PackageCiYaml | undefined,
): Generator<Finding> {
  if (sources.ciYaml?.isTouched === true) yield* validateCiYaml(sources.ciYaml, sources)
  for (const file of sources.releaseConfigs) yield* validateReleaseConfig(file, sources, settings)
}

function* validateCiYaml(
  file: PackageSettingsFile,
  { templates }: PackageDirectoryState,
): Generator<Finding> {
  const read = parsePackageSettings(file, ciYamlSchema)
  // The ownership check rejects a change to a list of owners that is not valid YAML.
  if (!read.isYaml) return
  yield* createPackageSettingsFindings(file, read, knownPackageSettingKeys)
  const { value, locationOf } = read
  if (!value) return
  if (!value.updateGraph && value.fbc?.enabled !== true)
    yield createFinding(noUpdateGraphRule, locationOf([]), { file: file.path })
  const templateOf = new Map<string, string>()
  for (const [index, { template_name: name, catalog_names: catalogs }] of (
    value.fbc?.catalog_mapping ?? []
  ).entries()) {
    const at = (key: string): Location => locationOf(['fbc', 'catalog_mapping', index, key])
    if (!templates.has(name))
      yield createFinding(malformedPackageSettingsRule, at('template_name'), {
        file: file.path,
        problem: `catalog-templates/ does not contain a file named "${name}"`,
      })
    for (const catalog of catalogs) {
      const other = templateOf.get(catalog)
      if (other !== undefined)
        yield createFinding(malformedPackageSettingsRule, at('catalog_names'), {
          file: file.path,
          problem: `the catalog "${catalog}" is rendered from both ${other} and ${name}`,
        })
      templateOf.set(catalog, name)
    }
  }
}

const releaseConfigSemverChannels = ['Candidate', 'Fast', 'Stable']

function* validateReleaseConfig(
  file: PackageSettingsFile,
  sources: PackageDirectoryState,
  settings: PackageCiYaml | undefined,
): Generator<Finding> {
  const read = parsePackageSettings(file, releaseConfigSchema)
  yield* createPackageSettingsFindings(file, read, knownPackageSettingKeys)
  const { value, locationOf } = read
  if (!value) return
  const mismatch = (path: readonly (string | number)[], problem: string) =>
    createFinding(releaseConfigMismatchRule, locationOf(path), { problem })
  // An unreadable ci.yaml is not an error of this file.
  if (sources.ciYaml && !settings) return
  if (settings?.fbc?.enabled !== true) {
    yield mismatch(
      ['catalog_templates'],
      `the file lists catalog templates, but ci.yaml does not set \`fbc.enabled: true\``,
    )
    return
  }
  for (const [index, entry] of value.catalog_templates.entries()) {
    const { template_name: template, channels, replaces, skips = [] } = entry
    const path = ['catalog_templates', index]
    const mapped = settings.fbc.catalog_mapping.find((one) => one.template_name === template)
    if (!mapped)
      yield mismatch(
        [...path, 'template_name'],
        `the template "${template}" is not in fbc.catalog_mapping in ci.yaml`,
      )
    const others = channels.filter((channel) => !releaseConfigSemverChannels.includes(channel))
    if (mapped?.type === 'olm.semver' && others.length > 0)
      yield mismatch(
        [...path, 'channels'],
        `a semver template supports only the channels ${releaseConfigSemverChannels.join(', ')}, not ${others.join(', ')}`,
      )
    if (sources.bundles === undefined) continue
    for (const [key, names] of [
      ['replaces', replaces === undefined ? [] : [replaces]],
      ['skips', skips],
    ] as const)
      for (const name of names)
        if (!isBundleInDirectoryOrCatalog(name, sources))
          yield mismatch(
            [...path, key],
            `the release ${key} the bundle ${name}, which exists neither in the package's directories nor in its catalogs`,
          )
  }
}

const knownPackageSettingKeys = [
  ...Object.keys(ciYamlSchema.shape),
  ...['enabled', 'version_promotion_strategy', 'catalog_mapping'],
  ...['template_name', 'type', 'catalog_names'],
  ...Object.keys(releaseConfigSchema.shape),
  ...['channels', 'defaultChannel', 'replaces', 'skips', 'skipRange'],
]

function* createPackageSettingsFindings(
  { path: file }: PackageSettingsFile,
  { problems, unknown }: PackageSettingsParseResult<unknown>,
  known: readonly string[],
): Generator<Finding> {
  for (const { at, problem } of problems)
    yield createFinding(malformedPackageSettingsRule, at, { file, problem })
  for (const { at, key, path } of unknown) {
    const meant = findSimilarName(key, known)
    yield createFinding(unknownPackageSettingRule, at, {
      file,
      key: path,
      ...(meant !== undefined && { known: meant }),
    })
  }
}
