// What a stranger may send: one package with twenty thousand entries. Judging, comparing and drawing it must grow with
// its length, not with the square of it; the bounds below are many times what it takes, and a hundredth of a square.
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import type { Catalog } from '../../../src/catalog/facts/catalog.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { drawDifference, drawPackage } from '../../../src/catalog/graph/drawing.ts'
import { drawMermaid } from '../../../src/catalog/graph/draw-mermaid.ts'
import { drawSvg } from '../../../src/catalog/graph/draw-svg.ts'
import { opmMermaid } from '../../../src/catalog/graph/opm-mermaid.ts'
import { mostRangeEdges, packageGraphs } from '../../../src/catalog/graph/package-graph.ts'
import { reachingHead } from '../../../src/catalog/graph/upgrade-paths.ts'
import { parseVersion } from '../../../src/catalog/versions/version.ts'
import { validateFully } from '../../../src/checks/validation/validate-fully.ts'
import { findRangeTrap } from '../../../src/checks/validation/range-trap.ts'

const entries = 20_000
const name = (at: number) => `foo.v${at}.0.0`

/** A chain of `replaces` from the newest to the oldest, with what else each entry says. */
function catalogOf(more: (at: number) => object): Catalog {
  const lines = [
    { schema: 'olm.package', name: 'foo', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'foo',
      name: 'stable',
      entries: Array.from({ length: entries }, (_, at) => ({
        name: name(at),
        ...(at > 0 && { replaces: name(at - 1) }),
        ...more(at),
      })),
    },
    ...Array.from({ length: entries }, (_, at) => ({
      schema: 'olm.bundle',
      package: 'foo',
      name: name(at),
      image: `quay.io/foo/foo@sha256:${'a'.repeat(64)}`,
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version: `${at}.0.0` } }],
    })),
  ]
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  return assemble([{ path: 'c.json', facts: readFile(new TextEncoder().encode(text)) }])
}

/** Processor time of this thread alone: how busy the machine is plays no part. */
function seconds(work: () => void): number {
  const start = process.threadCpuUsage()
  work()
  return process.threadCpuUsage(start).user / 1e6
}

describe('twenty thousand entries', () => {
  test.each([
    ['with ranges that cover nobody', (at: number) => ({ skipRange: `>=99999.0.0 <99999.0.${at}` })],
    ['with ranges that cover everybody older', (at: number) => ({ skipRange: `!=1.0.0 <${at}.0.0` })],
    ['that skip names nobody has', (at: number) => ({ skips: [`foo.v${at}.0.1`, `foo.v${at}.0.2`] })],
  ])('%s are judged in seconds', (_, more) => {
    const catalog = catalogOf(more)
    expect(seconds(() => validateFully(catalog))).toBeLessThan(30)
  })

  test('are drawn in seconds, with as many edges as somebody could look at', () => {
    const catalog = catalogOf((at) => ({ skipRange: `<${at}.0.0` }))
    const taken = seconds(() => {
      const [graph] = packageGraphs(catalog)
      expect(graph?.channels[0]).toMatchObject({ isCut: true })
      const ranges = graph?.channels[0]?.edges.filter(({ kind }) => kind === 'skipRange')
      expect(ranges).toHaveLength(mostRangeEdges)
      expect(opmMermaid(graph ? [graph] : [])).toContain('skipRange edges: the others are left out')
      if (graph) {
        drawMermaid([drawPackage(graph), drawDifference(undefined, graph)])
        drawSvg(drawPackage(graph))
      }
    })
    expect(taken).toBeLessThan(40)
  })

  test('find their way to the head in seconds', () => {
    const catalog = catalogOf((at) => ({ skipRange: `<${at}.0.0` }))
    const installed = Array.from({ length: entries }, (_, at) => {
      const version = parseVersion(`${at}.0.0`)
      return { name: name(at), ...(version.ok && { version: version.value }) }
    })
    let reaching = 0
    const taken = seconds(() => {
      reaching = reachingHead(catalog.channels[0]?.entries ?? [], installed).size
    })
    expect(reaching).toBe(entries)
    expect(taken).toBeLessThan(30)
  })
})

test('a range of twenty thousand terms is looked through in seconds', () => {
  const terms = Array.from({ length: entries }, (_, at) => `!=1.0.${at}`).join(' ')
  expect(seconds(() => findRangeTrap(`>=1.0.0 ${terms} <2.0.0`))).toBeLessThan(30)
  expect(findRangeTrap(`>=1.0.0 ${terms} <1.0.1`)?.kind).toBeUndefined()
})
