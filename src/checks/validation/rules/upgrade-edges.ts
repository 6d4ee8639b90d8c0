import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { isVersionInRange, VersionIndex } from '@catalog-bot/fbc/versions/version-range'
import type { ChannelBlob, ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import { definePackageRule, toFindingLocation } from '../catalog-rule.ts'
import { findSimilarName, formatTruncatedNames } from '../names.ts'
import { findBundleNewerThanChannelHead, listSkipRanges, type ChannelView } from '../view/catalog-view.ts'
import { getOrCreate } from '@catalog-bot/findings/memoize'

/**
 * An edge to a name that the package does not have. This is legal, because a channel can end at a removed version,
 * but a typo looks the same.
 */
export const edgeToNowhereRule = definePackageRule<{
  channel: string
  entry: string
  edge: 'replaces' | 'skips'
  targets: readonly string[]
  near: string
}>({
  id: 'edge-to-nowhere',
  severity: 'info',
  title: 'Edges point to bundles in the package',
  what: ({ entry, edge, targets }) =>
    `${entry} ${edge} ${formatTruncatedNames(targets)}, but the package has no such bundle${targets.length > 1 ? 's' : ''}`,
  why: 'An edge to a bundle that is not in the package helps only clusters that still run that bundle. If the name is misspelled, the edge has no effect.',
  fix: ({ targets, near }) =>
    near === ''
      ? `Check the spelling of the name${targets.length > 1 ? 's' : ''}.`
      : `Correct the name to ${near}, or remove the edge.`,
  *find(its) {
    let guesses = maxBundleNameCandidates
    const names = its.bundles.map(({ blob }) => blob.name)
    for (const { blob } of its.channels) {
      for (const entry of blob.entries) {
        const { replaces, skips } = entry
        const isMissing = (target: string) => target !== '' && its.bundle(target) === undefined
        const groups = [
          ['replaces', [replaces].filter(isMissing)],
          ['skips', skips.filter(isMissing)],
        ] as const
        for (const [edge, targets] of groups) {
          const [first] = targets
          if (first === undefined) continue
          const near = guesses-- > 0 ? suggestBundleNameOfSameVersion(first, names) : ''
          yield createEntryHit(blob, entry, { edge, targets, near }, edge)
        }
      }
    }
  },
})

/** Each guess compares with every bundle of the package. */
const maxBundleNameCandidates = 100

/** A similar name of the same version: neighbors of `foo.v1.0.1` are other releases, not typos. */
function suggestBundleNameOfSameVersion(target: string, names: readonly string[]): string {
  const digits = target.replaceAll(/\D/g, '')
  return (
    findSimilarName(
      target,
      names.filter((name) => name.replaceAll(/\D/g, '') === digits),
    ) ?? ''
  )
}

export const selfEdgeRule = definePackageRule<{ channel: string; entry: string; edge: 'replaces' | 'skips' }>(
  {
    id: 'self-edge',
    severity: 'error',
    overridable: false,
    title: 'No entry replaces or skips itself',
    what: ({ entry, edge }) => `${entry} ${edge} itself`,
    why: 'An entry that is replaced or skipped cannot be a head, and a skipped entry cannot be installed.',
    fix: ({ entry, edge }) => `Remove ${entry} from its own ${edge} field.`,
    *find(its) {
      for (const { blob } of its.channels) {
        for (const entry of blob.entries) {
          const { name, replaces, skips } = entry
          if (name === '') continue
          const edge: 'replaces' | 'skips' | undefined =
            replaces === name ? 'replaces' : skips.includes(name) ? 'skips' : undefined
          if (edge !== undefined) yield createEntryHit(blob, entry, { edge })
        }
      }
    },
  },
)

export const downgradeEdgeRule = definePackageRule<{
  channel: string
  entry: string
  version: string
  edge: 'replaces' | 'skips'
  target: string
  targetVersion: string
}>({
  id: 'downgrade-edge',
  severity: 'warning',
  title: 'Entries replace and skip only older versions',
  what: ({ entry, version, edge, target, targetVersion }) =>
    `${entry} (${version}) ${edge} ${target}, which is newer (${targetVersion})`,
  why: 'OLM moves clusters from the newer version back to the older one, but few Operators support downgrades.',
  fix: ({ entry, target }) => `Remove the edge, or make ${target} replace ${entry}.`,
  *find(its) {
    for (const channel of its.channels) {
      const { blob } = channel
      // head-not-highest covers these.
      const highest = findBundleNewerThanChannelHead(its, channel)
      for (const entry of blob.entries) {
        const own = its.bundle(entry.name)
        if (own?.version === undefined) continue
        const { replaces, skips } = entry
        const edges = [['replaces', replaces] as const, ...skips.map((skip) => ['skips', skip] as const)]
        for (const [edge, target] of edges) {
          const other = its.bundle(target)
          if (
            other?.version === undefined ||
            other === highest ||
            compareVersions(other.version, own.version) <= 0
          )
            continue
          const versions = { version: own.versionText, edge, target, targetVersion: other.versionText }
          yield createEntryHit(blob, entry, versions, target)
        }
      }
    }
  },
})

export const skipRangeCoversSelfRule = definePackageRule<{
  channel: string
  entry: string
  version: string
  skipRange: string
  covered: string
}>({
  id: 'skip-range-covers-self',
  severity: 'warning',
  title: 'A skipRange covers only versions older than its entry',
  what: ({ entry, skipRange, covered }) =>
    `the skipRange "${skipRange}" of ${entry} covers ${covered === entry ? 'its own version' : `the newer ${covered}`}`,
  why: 'A skipRange lists the versions that can upgrade directly to its entry, so this range offers an upgrade to the same or an older version.',
  fix: ({ version }) => `End the range with <${version}.`,
  *find(its) {
    for (const { channel, entry, own, range } of listSkipRanges(its)) {
      if (own.version === undefined) continue
      const covered = isVersionInRange(own.version, range)
        ? own
        : its.ladder().find(range, { newerThan: own.version })
      if (covered === undefined) continue
      const { skipRange } = entry
      const data = { version: own.versionText, skipRange, covered: covered.blob.name }
      yield createEntryHit(channel.blob, entry, data)
    }
  },
})

export const skipRangeMissesPredecessorsRule = definePackageRule<{
  channel: string
  entry: string
  skipRange: string
}>({
  id: 'skip-range-misses-predecessors',
  severity: 'warning',
  title: 'A skipRange covers at least one older version in its package',
  what: ({ entry, skipRange }) =>
    `the skipRange "${skipRange}" of ${entry} covers no older version in the channel`,
  why: 'No version in the catalog can upgrade to this entry, because no other edge leads to it.',
  fix: 'Correct the bounds, or make the entry replace the previous version.',
  *find(its) {
    const ladders = new Map<ChannelView, VersionIndex<string>>()
    const ladderOf = (channel: ChannelView) =>
      getOrCreate(ladders, channel, () => {
        const names = channel.blob.entries.map(({ name }) => name)
        return new VersionIndex(names, (name) => its.bundle(name)?.version)
      })
    for (const { channel, entry, own, range } of listSkipRanges(its)) {
      if (own.version === undefined) continue
      // Other edges lead to the entry, so the range might be for other channels and catalogs.
      if (replacesOrSkipsChannelEntry(entry, channel)) continue
      const version = own.version
      if (its.ladder().find(range, { olderThan: version }) !== undefined) continue
      if (ladderOf(channel).countOlder(version) === 0) continue
      yield createEntryHit(channel.blob, entry, { skipRange: entry.skipRange })
    }
  },
})

function createEntryHit<Data extends object>(
  { package: its, name: channel, place }: ChannelBlob,
  { name: entry, mark }: ChannelEntry,
  data: Data,
  ...more: readonly string[]
) {
  const about = [its, channel, entry, ...more]
  return { at: toFindingLocation(place, mark), about, data: { channel, entry, ...data } }
}

function replacesOrSkipsChannelEntry({ replaces, skips }: ChannelEntry, { blob }: ChannelView): boolean {
  const from = new Set([replaces, ...skips])
  return blob.entries.some(({ name }) => from.has(name))
}
