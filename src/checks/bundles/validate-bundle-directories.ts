// The part of the validation check that covers bundle directories and package settings.
import { z } from 'zod'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import type { BundleUpgradeMetadata, LocatedString } from '@catalog-bot/bundle/bundle-upgrade-metadata'
import { createFinding } from '@catalog-bot/findings/rule'
import { type CheckInput, applyConfiguredSeverities } from '../check.ts'
import {
  parseCiYaml,
  validatePackageSettings,
  parsePackageSettings,
  type PackageCiYaml,
  indexDirectoriesByBundleName,
  isBundleInDirectoryOrCatalog,
  findReplacesCycle,
  listAddedAndModifiedBundles,
} from './package-settings.ts'
import type { PackageDirectoryState, TouchedBundle } from './post-release-catalog.ts'
import {
  bundleDirectoryEdgeToNowhereRule,
  bundleDirectoryNameTakenRule,
  bundleDirectoryOfOtherPackageRule,
  bundleDirectoryOfOtherVersionRule,
  bundleDirectorySkipsUnknownRule,
  bundleDirectoryUnconnectedRule,
  bundleDirectoryUpgradeLoopRule,
  missingDefaultChannel,
  removedBundleInUseRule,
  unconventionalBundleNameRule,
} from './rules.ts'

export function validateBundleDirectories({
  bundleDirectories = [],
  config,
}: Pick<CheckInput, 'bundleDirectories' | 'config'>): readonly Finding[] {
  const found = bundleDirectories.flatMap((sources) =>
    validatePackageDirectory(sources).map((one): Finding => ({
      ...one,
      data: { package: sources.directory, ...one.data },
    })),
  )
  return applyConfiguredSeverities(found, config)
}

function validatePackageDirectory(sources: PackageDirectoryState): Finding[] {
  const settings = parseCiYaml(sources)
  return [
    ...sources.touched.flatMap(({ root, findings }) =>
      findings.map((one): Finding => ({
        ...one,
        // An empty directory releases nothing.
        ...(one.data?.['isEmpty'] === true && { severity: 'warning' as const }),
        at: one.at ? { ...one.at, file: `${root}/${one.at.file}` } : { file: root, line: 1, column: 1 },
      })),
    ),
    ...validateTouchedBundles(sources, settings),
    ...validatePackageSettings(sources, settings),
  ]
}

/**
 * Why package settings prevent an automatic merge. Checks both sides, so that a change can add a restriction but not
 * remove one from the base.
 */
export function listAutoMergeBlockReasons({
  change,
  ownerFiles,
}: Pick<CheckInput, 'change' | 'ownerFiles'>): readonly string[] {
  const directories = new Set(
    change.paths.flatMap(({ role }) => ('directory' in role && role.directory ? [role.directory] : [])),
  )
  return [...directories].sort().flatMap((directory) => {
    const path = `operators/${directory}/ci.yaml`
    const keepsBack = [ownerFiles.base, ownerFiles.result].some((side) => {
      const text = side.get(path)
      return (
        text !== undefined &&
        isAutoMergeDisabled(parsePackageSettings({ path, text }, autoMergeSettingSchema).value?.merge)
      )
    })
    return keepsBack ? [`${path} sets \`merge: false\`, so an owner or a maintainer must comment /merge`] : []
  })
}

/** Ignores all other settings. */
const autoMergeSettingSchema = z.looseObject({ merge: z.unknown() })

/** YAML parsers disagree about which words mean false, so any value except a plain true disables merging. */
function isAutoMergeDisabled(merge: unknown): boolean {
  return merge !== undefined && merge !== null && !/^"?(?:true|yes|on)"?$/i.test(JSON.stringify(merge))
}

/** `settings` come from the result, if readable. */
function* validateTouchedBundles(
  sources: PackageDirectoryState,
  settings: PackageCiYaml | undefined,
): Generator<Finding> {
  for (const { bundle, facts } of listAddedAndModifiedBundles(sources)) {
    const hasTemplates = settings?.fbc?.enabled === true
    yield* validateBundleNames(bundle, facts, sources, hasTemplates)
    // Packages with templates define edges and channels in them.
    if (!hasTemplates) yield* validateBundleUpgradeEdges(bundle, facts, sources, settings)
  }
  for (const bundle of sources.touched)
    if (bundle.kind === 'removed') yield* validateBundleRemoval(bundle, sources)
}

function createRepositoryLocationMapper({ root }: TouchedBundle): (reported: LocatedString) => Location {
  return ({ at }) => ({ ...at, file: `${root}/${at.file}` })
}

function* validateBundleNames(
  bundle: TouchedBundle,
  facts: BundleUpgradeMetadata,
  sources: PackageDirectoryState,
  hasTemplates: boolean,
): Generator<Finding> {
  const locationOf = createRepositoryLocationMapper(bundle)
  const { name, version, package: its } = facts
  if (version && version.text !== bundle.version)
    yield createFinding(bundleDirectoryOfOtherVersionRule, locationOf(version), {
      directory: bundle.version,
      version: version.text,
    })
  // The package that the base's bundles declare counts, regardless of the directory name.
  const known = sources.declared.size === 0 ? [sources.directory] : [...sources.declared]
  if (its && !known.includes(its.text))
    yield createFinding(bundleDirectoryOfOtherPackageRule, locationOf(its), {
      directory: sources.directory,
      package: its.text,
      known,
    })
  if (!name) return
  const other = indexDirectoriesByBundleName(sources)
    .get(name.text)
    ?.find((directory) => directory !== bundle.version)
  if (other !== undefined)
    yield createFinding(bundleDirectoryNameTakenRule, locationOf(name), {
      name: name.text,
      other: `operators/${sources.directory}/${other}`,
      hasTemplates,
    })
  if (version && its && !isConventionalBundleName(name.text, version.text, its.text, sources))
    yield createFinding(unconventionalBundleNameRule, locationOf(name), {
      name: name.text,
      wanted: `${its.text}.v${version.text}`,
    })
}

/** Whether the name follows the pattern of the other bundles, or consists of package and version. */
function isConventionalBundleName(
  name: string,
  version: string,
  its: string,
  { bundles }: PackageDirectoryState,
) {
  if ([`${its}.v${version}`, `${its}.${version}`].includes(name)) return true
  const shape = stripVersionFromBundleName(name, version)
  return [...(bundles?.values() ?? [])].some(
    (other) =>
      other.name &&
      other.version &&
      other.name.text !== name &&
      stripVersionFromBundleName(other.name.text, other.version.text) === shape,
  )
}

/** The name without its version; unchanged if it does not contain the version. */
function stripVersionFromBundleName(name: string, version: string): string {
  return name.endsWith(version) ? name.slice(0, name.length - version.length) : name
}

function* validateBundleUpgradeEdges(
  bundle: TouchedBundle,
  facts: BundleUpgradeMetadata,
  sources: PackageDirectoryState,
  settings: PackageCiYaml | undefined,
): Generator<Finding> {
  const locationOf = createRepositoryLocationMapper(bundle)
  const { replaces, skips, skipRange, channels, defaultChannel } = facts
  const name = facts.name?.text ?? bundle.version
  const isByName = (settings?.updateGraph ?? 'replaces-mode') === 'replaces-mode'
  const itself = replaces !== undefined && replaces.text === facts.name?.text
  // Other modes order bundles by version.
  if (isByName && replaces && (itself || !isBundleInDirectoryOrCatalog(replaces.text, sources)))
    yield createFinding(bundleDirectoryEdgeToNowhereRule, locationOf(replaces), {
      name,
      replaced: replaces.text,
      itself,
    })
  const unknown = skips.filter(({ text }) => !isBundleInDirectoryOrCatalog(text, sources))
  const [first] = unknown
  if (first)
    yield createFinding(bundleDirectorySkipsUnknownRule, locationOf(first), {
      name,
      skipped: unknown.map(({ text }) => text),
    })
  const loop = facts.name && !itself ? findReplacesCycle(facts.name.text, sources) : undefined
  if (loop && replaces) yield createFinding(bundleDirectoryUpgradeLoopRule, locationOf(replaces), { loop })

  const others = [...(sources.bundles ?? [])].filter(([version]) => version !== bundle.version)
  const all = new Set(
    [...(sources.bundles?.values() ?? [])].flatMap((one) => one.channels.map(({ text }) => text)),
  )
  if (defaultChannel && !all.has(defaultChannel.text))
    yield createFinding(missingDefaultChannel, locationOf(defaultChannel), {
      channel: defaultChannel.text,
      channels: [...all].sort(),
    })
  const isConnected =
    replaces !== undefined ||
    skips.length > 0 ||
    skipRange !== undefined ||
    others.some(([, other]) => other.replaces?.text === name || other.skips.some(({ text }) => text === name))
  if (!isByName || isConnected || bundle.kind !== 'added' || !facts.name) return
  for (const channel of channels) {
    const beside = others.filter(([, other]) => other.channels.some(({ text }) => text === channel.text))
    if (beside.length > 0)
      yield createFinding(bundleDirectoryUnconnectedRule, locationOf(facts.name), {
        name,
        channel: channel.text,
        others: beside.length,
      })
  }
}

function* validateBundleRemoval(
  { root, removed }: TouchedBundle,
  sources: PackageDirectoryState,
): Generator<Finding> {
  const name = removed?.name?.text
  if (name === undefined || indexDirectoriesByBundleName(sources).has(name)) return
  const replacing = [...(sources.bundles ?? [])].flatMap(([version, { replaces }]) =>
    replaces?.text === name ? [`operators/${sources.directory}/${version}`] : [],
  )
  const by = [...replacing, ...(sources.catalogs.get(name) ?? [])]
  const file = `${root}/${removed?.name?.at.file ?? 'manifests'}`
  if (by.length > 0) yield createFinding(removedBundleInUseRule, { file, line: 1, column: 1 }, { name, by })
}
