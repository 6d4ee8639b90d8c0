// Judges ci.yaml and release-config.yaml, alone and together.
import type { UpdateGraphMode } from '../../catalog/graph/update-graph.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { similarName } from '../validation/similar-name.ts'
import { exists } from './edges.ts'
import type { PackageSources, SettingsText } from './package-sources.ts'
import { ciYamlSchema, releaseConfigSchema, type CiYaml } from './package-settings.ts'
import { malformedPackageSettings } from './rules/malformed-package-settings.ts'
import { noUpdateGraph } from './rules/no-update-graph.ts'
import { releaseConfigMismatch } from './rules/release-config-mismatch.ts'
import { unknownPackageSetting } from './rules/unknown-package-setting.ts'
import { readSettings, type SettingsRead } from './settings-file.ts'

/** Undefined if unreadable. */
export function ciYamlOf({ ciYaml }: PackageSources): CiYaml | undefined {
  return ciYaml && readSettings(ciYaml, ciYamlSchema).value
}

/** Undefined if templates define the graph or ci.yaml is unreadable. */
export function graphModeOf(ciYaml: SettingsText | undefined): UpdateGraphMode | undefined {
  if (!ciYaml) return 'replaces-mode'
  const { value } = readSettings(ciYaml, ciYamlSchema)
  return !value || value.fbc?.enabled === true ? undefined : (value.updateGraph ?? 'replaces-mode')
}

/** Whether the change touches the graph mode but no bundle. */
export function changesGraphMode({
  ciYaml,
  ciYamlBefore,
}: Pick<PackageSources, 'ciYaml' | 'ciYamlBefore'>): boolean {
  const [before, now] = [graphModeOf(ciYamlBefore), graphModeOf(ciYaml)]
  return ciYaml?.isTouched === true && before !== undefined && now !== undefined && before !== now
}

export function* judgeSettings(sources: PackageSources, settings: CiYaml | undefined): Generator<Finding> {
  if (sources.ciYaml?.isTouched === true) yield* judgeCiYaml(sources.ciYaml, sources)
  for (const file of sources.releaseConfigs) yield* judgeReleaseConfig(file, sources, settings)
}

function* judgeCiYaml(file: SettingsText, { templates }: PackageSources): Generator<Finding> {
  const read = readSettings(file, ciYamlSchema)
  // The owners check refuses a change to a list of owners that is not YAML.
  if (!read.isYaml) return
  yield* complaints(file, read, knownKeys)
  const { value, placeOf } = read
  if (!value) return
  if (!value.updateGraph && value.fbc?.enabled !== true)
    yield finding(noUpdateGraph, placeOf([]), { file: file.path })
  const templateOf = new Map<string, string>()
  for (const [index, { template_name: name, catalog_names: catalogs }] of (
    value.fbc?.catalog_mapping ?? []
  ).entries()) {
    const at = (key: string): Location => placeOf(['fbc', 'catalog_mapping', index, key])
    if (!templates.has(name))
      yield finding(malformedPackageSettings, at('template_name'), {
        file: file.path,
        problem: `catalog-templates/ has no file "${name}"`,
      })
    for (const catalog of catalogs) {
      const other = templateOf.get(catalog)
      if (other !== undefined)
        yield finding(malformedPackageSettings, at('catalog_names'), {
          file: file.path,
          problem: `the catalog "${catalog}" is rendered from both ${other} and ${name}`,
        })
      templateOf.set(catalog, name)
    }
  }
}

const semverChannels = ['Candidate', 'Fast', 'Stable']

function* judgeReleaseConfig(
  file: SettingsText,
  sources: PackageSources,
  settings: CiYaml | undefined,
): Generator<Finding> {
  const read = readSettings(file, releaseConfigSchema)
  yield* complaints(file, read, knownKeys)
  const { value, placeOf } = read
  if (!value) return
  const mismatch = (path: readonly (string | number)[], problem: string) =>
    finding(releaseConfigMismatch, placeOf(path), { problem })
  // An unreadable ci.yaml is not an error of this file.
  if (sources.ciYaml && !settings) return
  if (settings?.fbc?.enabled !== true) {
    yield mismatch(
      ['catalog_templates'],
      `catalog templates are named, but ci.yaml does not say \`fbc.enabled: true\``,
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
        `the template "${template}" is not in fbc.catalog_mapping of ci.yaml`,
      )
    const others = channels.filter((channel) => !semverChannels.includes(channel))
    if (mapped?.type === 'olm.semver' && others.length > 0)
      yield mismatch(
        [...path, 'channels'],
        `a semver template has the channels ${semverChannels.join(', ')}, not ${others.join(', ')}`,
      )
    if (sources.bundles === undefined) continue
    for (const [key, names] of [
      ['replaces', replaces === undefined ? [] : [replaces]],
      ['skips', skips],
    ] as const)
      for (const name of names)
        if (!exists(name, sources))
          yield mismatch(
            [...path, key],
            `it ${key} ${name}, which neither a directory of the package nor its catalogs have`,
          )
  }
}

const knownKeys = [
  ...Object.keys(ciYamlSchema.shape),
  ...['enabled', 'version_promotion_strategy', 'catalog_mapping'],
  ...['template_name', 'type', 'catalog_names'],
  ...Object.keys(releaseConfigSchema.shape),
  ...['channels', 'defaultChannel', 'replaces', 'skips', 'skipRange'],
]

function* complaints(
  { path: file }: SettingsText,
  { problems, unknown }: SettingsRead<unknown>,
  known: readonly string[],
): Generator<Finding> {
  for (const { at, problem } of problems) yield finding(malformedPackageSettings, at, { file, problem })
  for (const { at, key, path } of unknown) {
    const meant = similarName(key, known)
    yield finding(unknownPackageSetting, at, {
      file,
      key: path,
      ...(meant !== undefined && { known: meant }),
    })
  }
}
