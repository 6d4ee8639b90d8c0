// Validates ci.yaml and release-config.yaml, separately and together.
import type { UpdateGraphMode } from '@catalog-bot/fbc/graph/derive-channels'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { findSimilarName } from '../validation/names.ts'
import {
  ciYamlSchema,
  releaseConfigSchema,
  type PackageCiYaml,
  parsePackageSettings,
  type PackageSettingsParseResult,
  isBundleInDirectoryOrCatalog,
} from './package-settings.ts'
import type { PackageDirectoryState, PackageSettingsFile } from './post-release-catalog.ts'
import {
  malformedPackageSettingsRule,
  noUpdateGraphRule,
  releaseConfigMismatchRule,
  unknownPackageSettingRule,
} from './rules.ts'

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
export function hasUpdateGraphModeChange({
  ciYaml,
  ciYamlBefore,
}: Pick<PackageDirectoryState, 'ciYaml' | 'ciYamlBefore'>): boolean {
  const [before, now] = [findUpdateGraphMode(ciYamlBefore), findUpdateGraphMode(ciYaml)]
  return ciYaml?.isTouched === true && before !== undefined && now !== undefined && before !== now
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
