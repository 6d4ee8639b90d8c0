// Compares the channels of one package: entries, edges, and heads. Ignores the order of entries.
import type { ChannelBlob, ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import { analyzeUpgradeGraph } from '@catalog-bot/fbc/graph/upgrade-graph'
import { findDifferingFields, type BlobPairComparer } from './compare-blobs.ts'
import type { ChannelChange, PackageChange } from './change.ts'

const emptyChannelChanges = { added: [], removed: [], changed: [] } as const

/** Sorted by name. */
export function compareChannels(
  base: readonly ChannelBlob[],
  result: readonly ChannelBlob[],
  comparer: BlobPairComparer,
): PackageChange['channels'] {
  if (base.length + result.length === 0) return emptyChannelChanges
  const before = new Map(base.map((channel) => [channel.name, channel]))
  const after = new Map(result.map((channel) => [channel.name, channel]))
  const changed: ChannelChange[] = []
  for (const [name, channel] of after) {
    const old = before.get(name)
    const change = old && compareChannel(old, channel, comparer)
    if (change) changed.push(change)
  }
  return {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
    changed: changed.sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

function compareChannel(
  base: ChannelBlob,
  result: ChannelBlob,
  comparer: BlobPairComparer,
): ChannelChange | undefined {
  if (comparer.sameBytes(base.place, result.place)) return undefined
  const before = new Map(base.entries.map((entry) => [entry.name, entry]))
  const after = new Map(result.entries.map((entry) => [entry.name, entry]))
  const added = [...after.keys()].filter((name) => !before.has(name)).sort()
  const removed = [...before.keys()].filter((name) => !after.has(name)).sort()
  const changed = [...after.values()]
    .filter((entry) => {
      const old = before.get(entry.name)
      return old !== undefined && !hasSameEdges(old, entry)
    })
    .map(({ name }) => name)
    .sort()
  if (added.length + removed.length + changed.length === 0) {
    // Equal entries with different text: a property, an unknown field, or only formatting.
    const values = comparer.values(base.place, result.place)
    if (values && findDifferingFields(values.base, values.result, new Set(['entries'])).length === 0)
      return undefined
  }
  const [headBefore, headAfter] = [findSingleChannelHead(base.entries), findSingleChannelHead(result.entries)]
  return {
    name: result.name,
    head: {
      ...(headBefore !== undefined && { before: headBefore }),
      ...(headAfter !== undefined && { after: headAfter }),
    },
    entries: { added, removed, changed },
  }
}

function hasSameEdges(a: ChannelEntry, b: ChannelEntry): boolean {
  return (
    a.replaces === b.replaces &&
    a.skipRange === b.skipRange &&
    a.skips.length === b.skips.length &&
    new Set([...a.skips, ...b.skips]).size === new Set(a.skips).size &&
    new Set(a.skips).size === new Set(b.skips).size
  )
}

/** Returns undefined unless the channel has exactly one head. */
function findSingleChannelHead(entries: readonly ChannelEntry[]): string | undefined {
  const { heads } = analyzeUpgradeGraph(entries)
  return heads.length === 1 ? heads[0] : undefined
}
