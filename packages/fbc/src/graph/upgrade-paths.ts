// Finds the installed bundles that can still upgrade to a channel's head. Follows `replaces`, `skips` and `skipRange`
// as OLM does, even from bundles that the channel no longer lists.
import type { ChannelEntry } from '../facts/catalog.ts'
import { analyzeUpgradeGraph } from './upgrade-graph.ts'
import { parseVersionRange, type VersionRange } from '../versions/version-range.ts'
import { VersionIndex, type VersionIndexRange } from '../versions/version-index.ts'
import type { Version } from '../versions/version.ts'

/** Without a version, no skipRange covers the bundle. */
export interface InstalledBundle {
  readonly name: string
  readonly version?: Version
}

/** Heads are those of opm's graph (upgrade-graph.ts). Returns an empty set for a channel without heads. */
export function findBundlesReachingChannelHead(
  entries: readonly ChannelEntry[],
  installed: readonly InstalledBundle[],
): Set<string> {
  const heads = analyzeUpgradeGraph(entries).heads
  const versions = new Map(installed.map(({ name, version }) => [name, version]))
  const ladder = new VersionIndex(versions.keys(), (name) => versions.get(name))
  const steps = new UncoveredVersionIndexes(ladder.length)
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const ranges = new Map<string, VersionRange | undefined>()
  const rangeOf = (text: string): VersionRange | undefined => {
    if (!ranges.has(text)) {
      const parsed = parseVersionRange(text)
      ranges.set(text, parsed.ok ? parsed.value : undefined)
    }
    return ranges.get(text)
  }
  // Works backward from the heads. If an entry reaches a head, so do the entries that it replaces, skips, or covers.
  const reaching = new Set<string>(heads)
  const open = [...heads]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const entry = byName.get(name)
    if (!entry) continue
    const sources = [entry.replaces, ...entry.skips]
    if (entry.skipRange !== '') {
      const range = rangeOf(entry.skipRange)
      if (range)
        for (const span of ladder.spans(range))
          for (const step of steps.take(span)) for (const source of ladder.at(step)) sources.push(source)
    }
    for (const source of sources)
      if (source !== '' && !reaching.has(source)) {
        reaching.add(source)
        open.push(source)
      }
  }
  return new Set([...versions.keys()].filter((name) => reaching.has(name)))
}

/** The positions in a version list that no range has covered yet. Visits each once, even if ranges overlap. */
class UncoveredVersionIndexes {
  /** For each position, the next position that might be uncovered. */
  private readonly next: Uint32Array

  constructor(length: number) {
    this.next = Uint32Array.from({ length: length + 1 }, (_, step) => step)
  }

  *take({ low, high, without }: VersionIndexRange): Generator<number> {
    for (let step = this.openFrom(low); step < high; step = this.openFrom(step + 1)) {
      if (without.has(step)) continue
      this.next[step] = step + 1
      yield step
    }
  }

  private openFrom(step: number): number {
    let open = step
    while ((this.next[open] as number) !== open) open = this.next[open] as number
    // Path compression.
    for (let at = step; at !== open;) {
      const after = this.next[at] as number
      this.next[at] = open
      at = after
    }
    return open
  }
}
