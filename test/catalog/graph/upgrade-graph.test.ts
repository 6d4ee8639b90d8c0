import { describe, expect, test } from '@jest/globals'
import { upgradeGraph } from '../../../src/catalog/graph/upgrade-graph.ts'
import type { UpgradeGraph } from '../../../src/catalog/graph/upgrade-graph.ts'
import { anEntry } from '../facts/facts.ts'

function graph(...entries: string[]): UpgradeGraph {
  return upgradeGraph(entries.map((entry) => anEntry(entry)))
}

describe('the upgrade graph', () => {
  test('has as heads the entries that nothing replaces or skips, in byte order', () => {
    expect(graph('c replaces b', 'b skips a', 'a').heads).toEqual(['c'])
    expect(graph('b10', 'b9', 'B').heads).toEqual(['B', 'b10', 'b9'])
  })

  test('has no head where every entry is replaced, even by itself', () => {
    expect(graph('a replaces a').heads).toEqual([])
    expect(graph('a skips a').heads).toEqual([])
    expect(graph('a replaces b', 'b replaces a').heads).toEqual([])
  })

  test('does not mind edges to names outside the channel', () => {
    const { heads, chain, stranded } = graph('b replaces a skips x,y', 'a replaces gone')
    expect({ heads, chain, stranded }).toEqual({ heads: ['b'], chain: ['b', 'a'], stranded: [] })
  })

  test('lets skipRange count for nothing', () => {
    expect(graph('b range >=0.0.0 <9.0.0', 'a').heads).toEqual(['a', 'b'])
  })

  test('shows a cycle from the first repeated entry round to itself', () => {
    expect(graph('c replaces b', 'b replaces a', 'a replaces b').cycle).toEqual(['b', 'a', 'b'])
  })

  test('strands what a skipped entry hides', () => {
    expect(graph('c replaces b skips b', 'b replaces a', 'a').stranded).toEqual(['a'])
    expect(graph('c replaces a skips b', 'b replaces a', 'a').stranded).toEqual([])
  })

  test('calls a detached circle stranded, not a cycle', () => {
    const { cycle, stranded } = graph('h', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual(['a', 'b'])
  })

  test('does not mind circles among skipped entries', () => {
    const { cycle, stranded } = graph('h skips a,b', 'a replaces b', 'b replaces a')
    expect(cycle).toBeUndefined()
    expect(stranded).toEqual([])
  })

  test('meets an entry without a name behind every tail, even behind itself', () => {
    expect(graph('').cycle).toEqual(['', ''])
  })

  test('before opm v1.58.0 followed the chain through skipped entries', () => {
    const entries = ['c replaces b skips b', 'b replaces a', 'a'].map((entry) => anEntry(entry))
    expect(upgradeGraph(entries, { chainStopsAtSkipped: false }).stranded).toEqual([])
  })

  test('walks ten thousand entries', () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => anEntry(`v${n + 1} replaces v${n}`))
    expect(upgradeGraph(entries).chain).toHaveLength(10_000)
  })
})
