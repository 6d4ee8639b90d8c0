// Which installed bundles can still be upgraded to a channel's head: the edges as OLM follows them, from old to new.
// `replaces`, `skips` and `skipRange` all count; an edge may start at a bundle that the channel no longer lists.
// Judges nothing: broken channels have reachable sets too.
import type { ChannelEntry } from '../catalog.ts'
import { upgradeGraph } from '../upgrade-graph.ts'
import { parseVersionRange, inRange, type VersionRange } from '../version-range.ts'
import type { Version } from '../version.ts'

/** An installed bundle: its name, and its version where one is known (without it no skipRange can hold it). */
export interface Installed {
  readonly name: string
  readonly version?: Version
}

/**
 * The bundles among `installed` that are a head of the channel or can reach one, step by step through its entries.
 * Heads are those of opm's graph (upgrade-graph.ts); a channel without any reaches nobody.
 */
export function reachingHead(entries: readonly ChannelEntry[], installed: readonly Installed[]): Set<string> {
  const heads = upgradeGraph(entries).heads
  const versions = new Map(installed.map(({ name, version }) => [name, version]))
  const ranged = [...versions].filter((pair): pair is [string, Version] => pair[1] !== undefined)
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const ranges = new Map<string, VersionRange | undefined>()
  const rangeOf = (text: string): VersionRange | undefined => {
    if (!ranges.has(text)) {
      const parsed = parseVersionRange(text)
      ranges.set(text, parsed.ok ? parsed.value : undefined)
    }
    return ranges.get(text)
  }
  // Backwards from the heads: whatever an entry that reaches them replaces, skips or covers reaches them too.
  const reaching = new Set<string>(heads)
  const open = [...heads]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const entry = byName.get(name)
    if (!entry) continue
    const sources = [entry.replaces, ...entry.skips]
    if (entry.skipRange !== '') {
      const range = rangeOf(entry.skipRange)
      if (range) for (const [source, version] of ranged) if (inRange(version, range)) sources.push(source)
    }
    for (const source of sources)
      if (source !== '' && !reaching.has(source)) {
        reaching.add(source)
        open.push(source)
      }
  }
  return new Set([...versions.keys()].filter((name) => reaching.has(name)))
}
