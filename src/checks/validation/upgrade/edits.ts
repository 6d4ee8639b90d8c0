import type { BundleBlob, ChannelBlob } from '@catalog-bot/fbc/facts/catalog'
import { findBundlesReachingChannelHead } from '@catalog-bot/fbc/graph/upgrade-graph'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { toCanonicalJson } from '../../../pull-request/compare-blobs.ts'
import type { PackageChange } from '../../../pull-request/change.ts'
import { toFindingLocation } from '../catalog-rule.ts'
import {
  defineRule,
  type BaseAndResultPackage,
  findPackageLocation,
  formatTruncatedNameList,
  findBundleByName,
} from './upgrade-rule.ts'

type BundleEditFindingData = { bundle: string; fields: readonly string[] }

/**
 * A published bundle with changed content. Installations depend on the content, so it is immutable, except for
 * displayed metadata (bundle-metadata-edited).
 */
export const bundleEditedRule = defineRule<BundleEditFindingData>({
  id: 'bundle-edited',
  severity: 'error',
  title: 'The content of a published bundle does not change',
  what: ({ bundle, fields }) => `published bundle "${bundle}" is changed: ${fields.join(', ')}`,
  why: 'Clusters where the bundle is already installed have different content under the same name and version, and never upgrade to the new content.',
  fix: 'Restore the bundle, and publish the correction as a new version that replaces it.',
  find: (change, sides) => findBundleEdits(change, sides, false),
})

export const bundleMetadataEditedRule = defineRule<BundleEditFindingData>({
  id: 'bundle-metadata-edited',
  severity: 'warning',
  title: 'The displayed metadata of a published bundle does not change',
  what: ({ bundle }) =>
    `the metadata of published bundle "${bundle}" has changed (olm.csv.metadata or olm.bundle.object)`,
  why: 'Installations are not affected, but the catalog shows or serves different metadata than before.',
  fix: 'Make sure that the metadata was rendered from the same image, for example during a migration to another metadata format.',
  find: (change, sides) => findBundleEdits(change, sides, true),
})

function* findBundleEdits(
  { bundles }: PackageChange,
  { base, result }: BaseAndResultPackage,
  metadataOnly: boolean,
) {
  for (const { name, fields, place } of bundles.changed) {
    const before = base?.bundle(name)?.blob
    const after = result?.bundle(name)?.blob
    const onlyMetadata =
      fields.length === 1 && fields[0] === 'properties' && before !== undefined && after !== undefined
        ? formatPropertiesForComparison(before) === formatPropertiesForComparison(after)
        : false
    if (onlyMetadata === metadataOnly)
      yield { at: toFindingLocation(place), about: [name], data: { bundle: name, fields } }
  }
}

/** All properties that affect resolution and installation. OLM installs a bundle without an image from its objects. */
function formatPropertiesForComparison(bundle: BundleBlob): string {
  return bundle.properties
    .filter(
      ({ type }) =>
        type !== 'olm.csv.metadata' && (type !== 'olm.bundle.object' || (bundle.image ?? '') === ''),
    )
    .map(({ type, value }) => toCanonicalJson([type, value]))
    .sort()
    .join()
}

export const defaultChannelChangedRule = defineRule<{
  before: string
  after: string
  /** Versions with a path to the old default channel's head but none in the new channel. */
  leftBehind: readonly string[]
}>({
  id: 'default-channel-changed',
  severity: 'warning',
  title: "A package's default channel does not change",
  what: ({ before, after, leftBehind }) =>
    `the default channel changes from "${before}" to "${after}"${leftBehind.length === 0 ? '' : `, which has no upgrade path from ${formatTruncatedNameList(leftBehind)}`}`,
  why: 'If an installation does not specify a channel, it switches to the new default channel. Installations that specify a channel are not affected.',
  fix: ({ before, after, leftBehind }) =>
    leftBehind.length === 0
      ? 'Make sure that the change is intentional, and explain it in the pull request.'
      : `Add an upgrade path from the versions in channel "${before}" to channel "${after}", or explain in the pull request how users can upgrade.`,
  *find({ defaultChannel }, sides) {
    if (!defaultChannel) return
    const stranded = findStrandedVersions(defaultChannel, sides)
    yield { at: findPackageLocation(sides), about: [], data: { ...defaultChannel, leftBehind: stranded } }
  },
})

function listInstalledBundles({ entries }: ChannelBlob, sides: BaseAndResultPackage) {
  return entries.map(({ name }) => {
    const version = findBundleByName(name, sides)?.version
    return version ? { name, version } : { name }
  })
}

function findStrandedVersions(
  { before, after }: { before: string; after: string },
  sides: BaseAndResultPackage,
): string[] {
  const old = sides.base?.channel(before)?.blob
  const now = sides.result?.channel(after)
  // Without a head, there is nothing to compare. opm's rules reject such a channel.
  if (!old || !now || now.graph.heads.length === 0) return []
  const installed = listInstalledBundles(old, sides)
  const can = findBundlesReachingChannelHead(now.blob.entries, installed)
  return [...findBundlesReachingChannelHead(old.entries, installed)].filter((name) => !can.has(name))
}

export const headMovesBackwardsRule = defineRule<{
  channel: string
  before: string
  after: string
  versions: readonly [before: string, after: string]
}>({
  id: 'head-moves-backwards',
  severity: 'warning',
  title: "A channel's head never moves to an older version",
  what: ({ channel, before, after, versions }) =>
    `the head of channel "${channel}" moves back from ${before} (${versions[0]}) to ${after} (${versions[1]})`,
  why: 'New installations get an older version, but clusters with the newer version keep it unless an upgrade edge leads back to the older one.',
  fix: 'Publish the correction as a newer version. Keep the withdrawn version in the channel, and make the new head skip it.',
  *find({ channels }, sides) {
    for (const { name: channel, head } of channels.changed) {
      const { before, after } = head
      if (before === undefined || after === undefined || before === after) continue
      const old = findBundleByName(before, sides)
      const now = findBundleByName(after, sides)
      const blob = sides.result?.channel(channel)?.blob
      if (!old?.version || !now?.version || !blob || compareVersions(now.version, old.version) >= 0) continue
      yield {
        at: toFindingLocation(blob.place, blob.entries.find(({ name }) => name === after)?.mark),
        about: [channel],
        data: { channel, before, after, versions: [old.versionText, now.versionText] },
      }
    }
  },
})

/** Versions that lose their upgrade path to the channel's head. channel-removed covers removed channels. */
export const installedVersionStrandedRule = defineRule<{
  channel: string
  bundles: readonly string[]
  /** Bundles newer than every head: an older version must not replace them. */
  newer: readonly string[]
  head: string
}>({
  id: 'installed-version-stranded',
  severity: 'error',
  title: 'Every version keeps its upgrade path',
  what: ({ channel, bundles, head }) =>
    `${formatTruncatedNameList(bundles)} in channel "${channel}" no longer ${bundles.length === 1 ? 'has' : 'have'} an upgrade path to ${head}`,
  why: 'Clusters on which these versions are installed stop getting updates, without a warning.',
  fix: ({ bundles, newer, head }) =>
    [
      ...(newer.length < bundles.length
        ? [
            `Make ${head}, or an entry that leads to it, replace or skip these versions, or cover them with a skipRange.`,
          ]
        : []),
      ...(newer.length > 0
        ? [
            `Keep ${formatTruncatedNameList(newer)}, because an older version must not replace a newer one. Add an upgrade to a newer version, or deprecate ${newer.length === 1 ? 'it' : 'them'}.`,
          ]
        : []),
    ].join(' '),
  *find({ kind }, sides) {
    const { base, result } = sides
    if (kind !== 'changed' || !base || !result) return
    for (const { blob: after, graph } of result.channels) {
      const before = base.channel(after.name)?.blob
      const { heads } = graph
      // Without a head, nothing can be stranded. opm's rules reject such a channel.
      if (!before || heads.length === 0) continue
      // Only entries of the base can be installed from this channel, not names that edges mention.
      const installed = listInstalledBundles(before, sides)
      const could = findBundlesReachingChannelHead(before.entries, installed)
      const can = findBundlesReachingChannelHead(after.entries, installed)
      const stranded = [...could].filter((name) => !can.has(name))
      if (stranded.length === 0) continue
      const [first] = heads
      const head = heads.length === 1 && first !== undefined ? first : `a head (${heads.join(', ')})`
      const newest = heads.map((name) => findBundleByName(name, sides)?.version)
      const newer = stranded.filter((name) => {
        const version = findBundleByName(name, sides)?.version
        return version && newest.every((other) => other && compareVersions(version, other) > 0)
      })
      const entry = after.entries.find(({ name }) => name === first)
      yield {
        at: toFindingLocation(after.place, entry?.mark),
        about: [after.name],
        data: { channel: after.name, bundles: stranded, newer, head },
      }
    }
  },
})
