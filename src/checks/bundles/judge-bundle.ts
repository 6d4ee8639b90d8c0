import type { BundleFacts, Said } from '../../bundle/bundle-facts.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { directoriesByName, exists, loopFrom, presentBundles } from './edges.ts'
import type { PackageSources, TouchedBundle } from './package-sources.ts'
import type { CiYaml } from './package-settings.ts'
import { bundleDirectoryEdgeToNowhere } from './rules/bundle-directory-edge-to-nowhere.ts'
import { bundleDirectoryNameTaken } from './rules/bundle-directory-name-taken.ts'
import { bundleDirectoryOfOtherPackage } from './rules/bundle-directory-of-other-package.ts'
import { bundleDirectoryOfOtherVersion } from './rules/bundle-directory-of-other-version.ts'
import { bundleDirectorySkipsUnknown } from './rules/bundle-directory-skips-unknown.ts'
import { bundleDirectoryUnconnected } from './rules/bundle-directory-unconnected.ts'
import { bundleDirectoryUpgradeLoop } from './rules/bundle-directory-upgrade-loop.ts'
import { defaultChannelNowhere } from './rules/default-channel-nowhere.ts'
import { removedBundleInUse } from './rules/removed-bundle-in-use.ts'
import { unconventionalBundleName } from './rules/unconventional-bundle-name.ts'

/** `settings` are the result's, if readable. */
export function* judgePlaces(sources: PackageSources, settings: CiYaml | undefined): Generator<Finding> {
  for (const { bundle, facts } of presentBundles(sources)) {
    const hasTemplates = settings?.fbc?.enabled === true
    yield* judgeNames(bundle, facts, sources, hasTemplates)
    // Packages with templates define edges and channels in them.
    if (!hasTemplates) yield* judgeEdges(bundle, facts, sources, settings)
  }
  for (const bundle of sources.touched) if (bundle.kind === 'removed') yield* judgeRemoval(bundle, sources)
}

function placeIn({ root }: TouchedBundle): (said: Said) => Location {
  return ({ at }) => ({ ...at, file: `${root}/${at.file}` })
}

function* judgeNames(
  bundle: TouchedBundle,
  facts: BundleFacts,
  sources: PackageSources,
  hasTemplates: boolean,
): Generator<Finding> {
  const placeOf = placeIn(bundle)
  const { name, version, package: its } = facts
  if (version && version.text !== bundle.version)
    yield finding(bundleDirectoryOfOtherVersion, placeOf(version), {
      directory: bundle.version,
      version: version.text,
    })
  // The bundle name in the base defines the package, regardless of the directory's name.
  const known = sources.declared.size === 0 ? [sources.directory] : [...sources.declared]
  if (its && !known.includes(its.text))
    yield finding(bundleDirectoryOfOtherPackage, placeOf(its), {
      directory: sources.directory,
      package: its.text,
      known,
    })
  if (!name) return
  const other = directoriesByName(sources)
    .get(name.text)
    ?.find((directory) => directory !== bundle.version)
  if (other !== undefined)
    yield finding(bundleDirectoryNameTaken, placeOf(name), {
      name: name.text,
      other: `operators/${sources.directory}/${other}`,
      hasTemplates,
    })
  if (version && its && !isConventional(name.text, version.text, its.text, sources))
    yield finding(unconventionalBundleName, placeOf(name), {
      name: name.text,
      wanted: `${its.text}.v${version.text}`,
    })
}

/** Matches the other bundles' names, or else package and version. */
function isConventional(name: string, version: string, its: string, { bundles }: PackageSources): boolean {
  if ([`${its}.v${version}`, `${its}.${version}`].includes(name)) return true
  const shape = shapeOf(name, version)
  return [...(bundles?.values() ?? [])].some(
    (other) =>
      other.name &&
      other.version &&
      other.name.text !== name &&
      shapeOf(other.name.text, other.version.text) === shape,
  )
}

/** The name without its version; unchanged if it does not contain the version. */
function shapeOf(name: string, version: string): string {
  return name.endsWith(version) ? name.slice(0, name.length - version.length) : name
}

function* judgeEdges(
  bundle: TouchedBundle,
  facts: BundleFacts,
  sources: PackageSources,
  settings: CiYaml | undefined,
): Generator<Finding> {
  const placeOf = placeIn(bundle)
  const { replaces, skips, skipRange, channels, defaultChannel } = facts
  const name = facts.name?.text ?? bundle.version
  const isByName = (settings?.updateGraph ?? 'replaces-mode') === 'replaces-mode'
  const itself = replaces !== undefined && replaces.text === facts.name?.text
  // Other modes order bundles by version.
  if (isByName && replaces && (itself || !exists(replaces.text, sources)))
    yield finding(bundleDirectoryEdgeToNowhere, placeOf(replaces), { name, replaced: replaces.text, itself })
  const unknown = skips.filter(({ text }) => !exists(text, sources))
  const [first] = unknown
  if (first)
    yield finding(bundleDirectorySkipsUnknown, placeOf(first), {
      name,
      skipped: unknown.map(({ text }) => text),
    })
  const loop = facts.name && !itself ? loopFrom(facts.name.text, sources) : undefined
  if (loop && replaces) yield finding(bundleDirectoryUpgradeLoop, placeOf(replaces), { loop })

  const others = [...(sources.bundles ?? [])].filter(([version]) => version !== bundle.version)
  const all = new Set(
    [...(sources.bundles?.values() ?? [])].flatMap((one) => one.channels.map(({ text }) => text)),
  )
  if (defaultChannel && !all.has(defaultChannel.text))
    yield finding(defaultChannelNowhere, placeOf(defaultChannel), {
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
      yield finding(bundleDirectoryUnconnected, placeOf(facts.name), {
        name,
        channel: channel.text,
        others: beside.length,
      })
  }
}

function* judgeRemoval({ root, removed }: TouchedBundle, sources: PackageSources): Generator<Finding> {
  const name = removed?.name?.text
  if (name === undefined || directoriesByName(sources).has(name)) return
  const replacing = [...(sources.bundles ?? [])].flatMap(([version, { replaces }]) =>
    replaces?.text === name ? [`operators/${sources.directory}/${version}`] : [],
  )
  const by = [...replacing, ...(sources.catalogs.get(name) ?? [])]
  const file = `${root}/${removed?.name?.at.file ?? 'manifests'}`
  if (by.length > 0) yield finding(removedBundleInUse, { file, line: 1, column: 1 }, { name, by })
}
