import { describe, expect, test } from '@jest/globals'
import { analyzeUpgradeGraph, type UpgradeGraph } from '../../../../packages/fbc/src/graph/upgrade-graph.ts'
import { parseChannelEntry } from '../facts/create-facts.ts'

function buildUpgradeGraph(...entries: string[]): UpgradeGraph {
  return analyzeUpgradeGraph(entries.map((entry) => parseChannelEntry(entry)))
}

describe('the upgrade graph', () => {
  test('has the entries that no entry replaces or skips as its heads, in byte order', () => {
    expect(buildUpgradeGraph('c replaces b', 'b skips a', 'a').heads).toEqual(['c'])
    expect(buildUpgradeGraph('b10', 'b9', 'B').heads).toEqual(['B', 'b10', 'b9'])
  })

  test('has no head if every entry is replaced or skipped, including entries that replace themselves', () => {
    expect(buildUpgradeGraph('a replaces a').heads).toEqual([])
    expect(buildUpgradeGraph('a skips a').heads).toEqual([])
    expect(buildUpgradeGraph('a replaces b', 'b replaces a').heads).toEqual([])
  })

  test('ignores edges to names outside the channel', () => {
    const { heads, chain, stranded } = buildUpgradeGraph('b replaces a skips x,y', 'a replaces gone')
    expect({ heads, chain, stranded }).toEqual({ heads: ['b'], chain: ['b', 'a'], stranded: [] })
  })

  test('ignores skipRange', () => {
    expect(buildUpgradeGraph('b range >=0.0.0 <9.0.0', 'a').heads).toEqual(['a', 'b'])
  })

  test('reports a cycle as the path from the first repeated entry back to itself', () => {
    expect(buildUpgradeGraph('c replaces b', 'b replaces a', 'a replaces b').cycle).toEqual(['b', 'a', 'b'])
  })

  test('reports an entry as stranded if only a skipped entry leads to it', () => {
    expect(buildUpgradeGraph('c replaces b skips b', 'b replaces a', 'a').stranded).toEqual(['a'])
    expect(buildUpgradeGraph('c replaces a skips b', 'b replaces a', 'a').stranded).toEqual([])
  })

  test('reports a detached cycle as stranded, not as a cycle', () => {
    const { cycle, stranded } = buildUpgradeGraph('h', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual(['a', 'b'])
  })

  test('ignores cycles among skipped entries', () => {
    const { cycle, stranded } = buildUpgradeGraph('h skips a,b', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual([])
  })

  test('reports an entry without a name as a cycle, because it follows every tail, including itself', () => {
    expect(buildUpgradeGraph('').cycle).toEqual(['', ''])
  })

  test('follows the chain through skipped entries with the rules before opm v1.58.0', () => {
    const entries = ['c replaces b skips b', 'b replaces a', 'a'].map((entry) => parseChannelEntry(entry))
    expect(analyzeUpgradeGraph(entries, { chainStopsAtSkipped: false }).stranded).toEqual([])
  })

  test('walks ten thousand entries', () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => parseChannelEntry(`v${n + 1} replaces v${n}`))
    expect(analyzeUpgradeGraph(entries).chain).toHaveLength(10_000)
  })
})
