// The upgrade graph of one channel as opm checks it. Uses names only: opm ignores versions and `skipRange` here.
import type { ChannelEntry } from '../facts/catalog.ts'
import { sortByBytes } from '../go/text.ts'
import {
  parseVersionRange,
  type VersionRange,
  VersionIndex,
  type VersionIndexRange,
} from '../versions/version-range.ts'
import type { Version } from '../versions/version.ts'

/** Without a version, no skipRange covers the bundle. */
interface InstalledBundle {
  readonly name: string
  readonly version?: Version
}

/** The positions in a version list that no range has covered yet. Visits each once, even if ranges overlap. */
class UnvisitedVersionIndexes {
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

export type UpgradeGraphEntry = Pick<ChannelEntry, 'name' | 'replaces' | 'skips'>

export interface UpgradeGraph {
  /** Entries that no entry replaces or skips, in Go's string order. Valid channels have exactly one. */
  readonly heads: readonly string[]
  /** Includes skipped names that aren't in the channel. */
  readonly skipped: ReadonlySet<string>
  /** Entries of the channel along `replaces`, starting at the head. Empty unless there is exactly one head. */
  readonly chain: readonly string[]
  /** Names from the first repeated one back to itself, if the chain is a cycle. */
  readonly cycle?: readonly string[]
  /** Entries neither on the chain nor skipped, in Go's string order. Empty unless there is one head and no cycle. */
  readonly stranded: readonly string[]
}

export interface UpgradeGraphOptions {
  /** Since opm v1.58.0 the chain ends before an entry that is skipped. */
  readonly chainStopsAtSkipped: boolean
}

/** Uses the first entry of each name; opm has already rejected channels with duplicates. */
export function analyzeUpgradeGraph(
  entries: readonly UpgradeGraphEntry[],
  options: UpgradeGraphOptions = { chainStopsAtSkipped: true },
): UpgradeGraph {
  const byName = new Map<string, UpgradeGraphEntry>()
  const skipped = new Set<string>()
  const targets = new Set<string>()
  for (const entry of entries) {
    if (byName.has(entry.name)) continue
    byName.set(entry.name, entry)
    if (entry.replaces !== '') targets.add(entry.replaces)
    for (const skip of entry.skips) {
      targets.add(skip)
      skipped.add(skip)
    }
  }
  const heads = sortByBytes([...byName.keys()].filter((name) => !targets.has(name)))
  const [head] = heads
  if (head === undefined || heads.length > 1) return { heads, skipped, chain: [], stranded: [] }
  const { chain, cycle } = followReplacesChain(
    head,
    byName,
    options.chainStopsAtSkipped ? skipped : new Set(),
  )
  if (cycle) return { heads, skipped, chain, cycle, stranded: [] }
  const reached = new Set(chain)
  const left = [...byName.keys()].filter((name) => !reached.has(name) && !skipped.has(name))
  return { heads, skipped, chain, stranded: sortByBytes(left) }
}

function followReplacesChain(
  head: string,
  byName: ReadonlyMap<string, UpgradeGraphEntry>,
  stopBefore: ReadonlySet<string>,
): { chain: string[]; cycle?: string[] } {
  const position = new Map([[head, 0]])
  const chain = [head]
  for (let entry = byName.get(head); entry !== undefined;) {
    const next = entry.replaces
    if (stopBefore.has(next)) break
    const before = position.get(next)
    if (before !== undefined) return { chain, cycle: [...chain.slice(before), next] }
    entry = byName.get(next)
    // opm also looks up an empty `replaces`, so an entry without a name continues every chain.
    if (entry !== undefined) {
      position.set(next, chain.length)
      chain.push(next)
    }
  }
  return { chain }
}

// Finds the installed bundles that can still upgrade to a channel's head. Follows `replaces`, `skips` and `skipRange`
// as OLM does, even from bundles that the channel no longer lists.

/** Heads are those of opm's graph (upgrade-graph.ts). Returns an empty set for a channel without heads. */
export function findBundlesReachingChannelHead(
  entries: readonly ChannelEntry[],
  installed: readonly InstalledBundle[],
): Set<string> {
  const heads = analyzeUpgradeGraph(entries).heads
  const versions = new Map(installed.map(({ name, version }) => [name, version]))
  const ladder = new VersionIndex(versions.keys(), (name) => versions.get(name))
  const steps = new UnvisitedVersionIndexes(ladder.length)
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
