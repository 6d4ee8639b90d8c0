// The upgrade graphs of packages as data. The edges are those that `opm alpha render-graph` finds, from old to new.
import type { BundleBlob, Catalog, ChannelBlob, ChannelEntry } from '../facts/catalog.ts'
import { getJsonStringField } from '../go/json/json.ts'
import { analyzeUpgradeGraph } from './upgrade-graph.ts'
import { compareVersions, parseVersion, type Version, zeroVersion } from '../versions/version.ts'
import { parseVersionRange, VersionIndex } from '../versions/version-range.ts'
import { compareCodeUnits } from '@catalog-bot/findings/finding'

export interface PackageGraph {
  readonly name: string
  readonly deprecated: boolean
  readonly channels: readonly ChannelGraph[]
}

export interface ChannelGraph {
  readonly name: string
  readonly isDefault: boolean
  readonly deprecated: boolean
  /** Entries that no other entry replaces or skips, in channel order. A valid channel has one. */
  readonly heads: readonly string[]
  /** Entries by descending version, followed by names that appear only in edges, in order of appearance. */
  readonly nodes: readonly GraphNode[]
  /**
   * In opm's print order. For each entry: the entries that it skips, that its skipRange covers, and that it replaces.
   */
  readonly edges: readonly GraphEdge[]
  /** Set if the channel has more `skipRange` edges than are kept. */
  readonly isCut?: true
}

export interface GraphNode {
  readonly name: string
  /** Absent if no bundle of that name has a version that parses. */
  readonly version?: string
  /** False for a name that appears only in edges. */
  readonly isEntry: boolean
  readonly deprecated: boolean
  readonly skipped: boolean
  /** As written in the catalog. */
  readonly skipRange?: string
}

export interface GraphEdge {
  readonly kind: 'replaces' | 'skips' | 'skipRange'
  readonly from: string
  readonly to: string
  /** Only on `skipRange` edges. */
  readonly range?: string
}

/**
 * Range edges grow quadratically. The longest published channel (82 entries) has up to 7,000. This limit protects
 * against malicious channels.
 */
export const maxSkipRangeEdges = 100_000

/**
 * Sorted by name. Also works for invalid catalogs. As in opm, an entry that its own skipRange covers has an edge to
 * itself.
 */
export function buildPackageGraphs(catalog: Catalog, only?: string): PackageGraph[] {
  const isWanted = (blob: ChannelBlob | BundleBlob) => only === undefined || blob.package === only
  const channels = Map.groupBy(catalog.channels.filter(isWanted), (channel) => channel.package)
  const versions = new Map<string, Map<string, Version & { text: string }>>()
  for (const bundle of catalog.bundles.filter(isWanted)) {
    const text = bundle.properties
      .filter(({ type }) => type === 'olm.package')
      .map(({ value }) => getJsonStringField(value, 'version'))
      .join('')
    const parsed = parseVersion(text)
    let its = versions.get(bundle.package)
    if (!its) versions.set(bundle.package, (its = new Map<string, Version & { text: string }>()))
    if (parsed.ok && !its.has(bundle.name)) its.set(bundle.name, { ...parsed.value, text })
  }
  const deprecated = new Set(
    catalog.deprecations.flatMap((blob) =>
      blob.entries.map(({ schema, name }) => `${blob.package}\n${schema}\n${name}`),
    ),
  )
  return [...channels]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([name, its]) => {
      const isDeprecated = (schema: string, object: string) => deprecated.has(`${name}\n${schema}\n${object}`)
      const defaultChannel = catalog.packages.find((blob) => blob.name === name)?.defaultChannel
      return {
        name,
        deprecated: isDeprecated('olm.package', ''),
        channels: its
          .sort((a, b) => compareCodeUnits(a.name, b.name))
          .map((channel) =>
            buildChannelGraph(
              channel,
              versions.get(name) ?? new Map(),
              isDeprecated,
              channel.name === defaultChannel,
            ),
          ),
      }
    })
}

function buildChannelGraph(
  { name, entries }: ChannelBlob,
  versions: ReadonlyMap<string, Version & { text: string }>,
  isDeprecated: (schema: string, name: string) => boolean,
  isDefault: boolean,
): ChannelGraph {
  const { heads, skipped } = analyzeUpgradeGraph(entries)
  const sorted = [...entries].sort((a, b) => compareEntriesNewestFirst(a, b, versions))
  const edges: GraphEdge[] = []
  let isCut = false
  const ladder = new VersionIndex(
    entries.keys(),
    (at) => versions.get(entries[at]?.name ?? '') ?? zeroVersion,
  )
  let remainingEdges = maxSkipRangeEdges
  for (const entry of sorted) {
    const covered = findEntriesInSkipRange(entry.skipRange, ladder, remainingEdges + 1)
    const retained = covered.slice(0, remainingEdges)
    isCut ||= retained.length < covered.length
    remainingEdges -= retained.length
    for (const edge of findIncomingEdges(
      entry,
      retained.map((at) => entries[at]?.name ?? ''),
    ))
      edges.push(edge)
  }
  const node = (bundle: string, isEntry: boolean, skipRange = ''): GraphNode => {
    const version = versions.get(bundle)?.text
    return {
      name: bundle,
      ...(version !== undefined && { version }),
      isEntry,
      deprecated: isDeprecated('olm.bundle', bundle),
      skipped: skipped.has(bundle),
      ...(skipRange !== '' && { skipRange }),
    }
  }
  const nodes = new Map(sorted.map((entry) => [entry.name, node(entry.name, true, entry.skipRange)]))
  for (const { from } of edges) if (!nodes.has(from)) nodes.set(from, node(from, false))
  return {
    name,
    isDefault,
    deprecated: isDeprecated('olm.channel', name),
    heads,
    nodes: [...nodes.values()],
    edges,
    ...(isCut && { isCut }),
  }
}

function findIncomingEdges(
  { name: to, replaces, skips, skipRange }: ChannelEntry,
  covered: readonly string[],
): GraphEdge[] {
  const edges: GraphEdge[] = skips.map((from) => ({ kind: 'skips', from, to }))
  for (const from of covered) edges.push({ kind: 'skipRange', from, to, range: skipRange })
  if (replaces !== '') edges.push({ kind: 'replaces', from: replaces, to })
  return edges
}

/** Indexes of at most `most` entries in the range. */
function findEntriesInSkipRange(skipRange: string, ladder: VersionIndex<number>, limit: number): number[] {
  const range = skipRange === '' ? undefined : parseVersionRange(skipRange)
  if (!range?.ok) return []
  const covered = new Set<number>()
  for (const { low, high, without } of ladder.spans(range.value))
    for (let step = low; step < high && covered.size < limit; step++)
      if (!without.has(step)) for (const at of ladder.at(step)) covered.add(at)
  return [...covered].sort((a, b) => a - b)
}

function compareEntriesNewestFirst(a: ChannelEntry, b: ChannelEntry, versions: ReadonlyMap<string, Version>) {
  return compareVersions(versions.get(b.name) ?? zeroVersion, versions.get(a.name) ?? zeroVersion)
}
