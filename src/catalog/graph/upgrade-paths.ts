// Which installed bundles can still be upgraded to a channel's head: the edges as OLM follows them, from old to new.
// `replaces`, `skips` and `skipRange` all count; an edge may start at a bundle that the channel no longer lists.
// Judges nothing: broken channels have reachable sets too.
import type { ChannelEntry } from '../facts/catalog.ts'
import { upgradeGraph } from './upgrade-graph.ts'
import { parseVersionRange, type VersionRange } from '../versions/version-range.ts'
import { VersionLadder, type Span } from '../versions/version-ladder.ts'
import type { Version } from '../versions/version.ts'

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
  const ladder = new VersionLadder(versions.keys(), (name) => versions.get(name))
  const steps = new OpenSteps(ladder.length)
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

/** Steps of a ladder that no range has covered yet: each is taken once, however many ranges lie over it. */
class OpenSteps {
  /** For each step the next one that may be open: itself while it is. */
  private readonly next: Uint32Array

  constructor(length: number) {
    this.next = Uint32Array.from({ length: length + 1 }, (_, step) => step)
  }

  *take({ low, high, without }: Span): Generator<number> {
    for (let step = this.openFrom(low); step < high; step = this.openFrom(step + 1)) {
      if (without.has(step)) continue
      this.next[step] = step + 1
      yield step
    }
  }

  private openFrom(step: number): number {
    let open = step
    while ((this.next[open] as number) !== open) open = this.next[open] as number
    // Whoever comes this way again need not walk it all.
    for (let at = step; at !== open;) {
      const after = this.next[at] as number
      this.next[at] = open
      at = after
    }
    return open
  }
}
