import { describe, expect, test } from '@jest/globals'
import { analyzeUpgradeGraph } from '../../../../packages/fbc/src/graph/upgrade-graph.ts'
import type { UpgradeGraph } from '../../../../packages/fbc/src/graph/upgrade-graph.ts'
import { parseChannelEntry } from '../facts/create-facts.ts'

function buildUpgradeGraph(...entries: string[]): UpgradeGraph {
  return analyzeUpgradeGraph(entries.map((entry) => parseChannelEntry(entry)))
}

describe('the upgrade graph', () => {
  test('has as heads the entries that nothing replaces or skips, in byte order', () => {
    expect(buildUpgradeGraph('c replaces b', 'b skips a', 'a').heads).toEqual(['c'])
    expect(buildUpgradeGraph('b10', 'b9', 'B').heads).toEqual(['B', 'b10', 'b9'])
  })

  test('has no head where every entry is replaced, even by itself', () => {
    expect(buildUpgradeGraph('a replaces a').heads).toEqual([])
    expect(buildUpgradeGraph('a skips a').heads).toEqual([])
    expect(buildUpgradeGraph('a replaces b', 'b replaces a').heads).toEqual([])
  })

  test('does not mind edges to names outside the channel', () => {
    const { heads, chain, stranded } = buildUpgradeGraph('b replaces a skips x,y', 'a replaces gone')
    expect({ heads, chain, stranded }).toEqual({ heads: ['b'], chain: ['b', 'a'], stranded: [] })
  })

  test('lets skipRange count for nothing', () => {
    expect(buildUpgradeGraph('b range >=0.0.0 <9.0.0', 'a').heads).toEqual(['a', 'b'])
  })

  test('shows a cycle from the first repeated entry round to itself', () => {
    expect(buildUpgradeGraph('c replaces b', 'b replaces a', 'a replaces b').cycle).toEqual(['b', 'a', 'b'])
  })

  test('strands what a skipped entry hides', () => {
    expect(buildUpgradeGraph('c replaces b skips b', 'b replaces a', 'a').stranded).toEqual(['a'])
    expect(buildUpgradeGraph('c replaces a skips b', 'b replaces a', 'a').stranded).toEqual([])
  })

  test('calls a detached circle stranded, not a cycle', () => {
    const { cycle, stranded } = buildUpgradeGraph('h', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual(['a', 'b'])
  })

  test('does not mind circles among skipped entries', () => {
    const { cycle, stranded } = buildUpgradeGraph('h skips a,b', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual([])
  })

  test('meets an entry without a name behind every tail, even behind itself', () => {
    expect(buildUpgradeGraph('').cycle).toEqual(['', ''])
  })

  test('before opm v1.58.0 followed the chain through skipped entries', () => {
    const entries = ['c replaces b skips b', 'b replaces a', 'a'].map((entry) => parseChannelEntry(entry))
    expect(analyzeUpgradeGraph(entries, { chainStopsAtSkipped: false }).stranded).toEqual([])
  })

  test('walks ten thousand entries', () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => parseChannelEntry(`v${n + 1} replaces v${n}`))
    expect(analyzeUpgradeGraph(entries).chain).toHaveLength(10_000)
  })
})
