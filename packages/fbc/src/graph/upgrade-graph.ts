// The upgrade graph of one channel as opm checks it. Uses names only: opm ignores versions and `skipRange` here.
import type { ChannelEntry } from '../facts/catalog.ts'
import { sortByBytes } from '../go/text.ts'

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
