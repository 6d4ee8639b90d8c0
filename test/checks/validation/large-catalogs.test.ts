// Untrusted input: one package with five thousand entries, or a file with many problems. The time to validate, compare, and
// draw it must be linear, not quadratic. The limits below are many times the actual time, and a hundredth of a quadratic time.
import { describe, expect, test } from '@jest/globals'
import { type Catalog, assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { drawPackageDiff, drawPackage } from '../../../packages/fbc/src/graph/drawing.ts'
import { drawMermaid, renderOpmMermaid } from '../../../packages/fbc/src/graph/draw-mermaid.ts'
import { drawSvg } from '../../../packages/fbc/src/graph/draw-svg.ts'
import { maxSkipRangeEdges, buildPackageGraphs } from '../../../packages/fbc/src/graph/package-graph.ts'
import { findBundlesReachingChannelHead } from '../../../packages/fbc/src/graph/upgrade-graph.ts'
import { parseVersion } from '../../../packages/fbc/src/versions/version.ts'
import { ciYamlSchema, parsePackageSettings } from '../../../src/checks/bundles/package-settings.ts'
import { validateCatalogWithAllRules } from '../../../src/checks/validation/validate-fully.ts'
import { findVersionRangePitfall } from '../../../src/checks/validation/rules/versions.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { detectLayout } from '../../../src/pull-request/layout/detect-layout.ts'
import { findTouchedTemplateCatalogPairs } from '../../../src/pull-request/layout/template-pairs.ts'

const channelEntryCount = 5000
const formatBundleName = (at: number) => `foo.v${at}.0.0`

/** A chain of `replaces` from the newest to the oldest, with additional fields of each entry. */
function createReplacesChainCatalog(more: (at: number) => object): Catalog {
  const lines = [
    { schema: 'olm.package', name: 'foo', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'foo',
      name: 'stable',
      entries: Array.from({ length: channelEntryCount }, (_, at) => ({
        name: formatBundleName(at),
        ...(at > 0 && { replaces: formatBundleName(at - 1) }),
        ...more(at),
      })),
    },
    ...Array.from({ length: channelEntryCount }, (_, at) => ({
      schema: 'olm.bundle',
      package: 'foo',
      name: formatBundleName(at),
      image: `quay.io/foo/foo@sha256:${'a'.repeat(64)}`,
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version: `${at}.0.0` } }],
    })),
  ]
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  return assembleCatalog([{ path: 'c.json', facts: parseCatalogFile(new TextEncoder().encode(text)) }])
}

/** CPU time of this thread only, so that the load of the machine does not matter. */
function measureCpuSeconds(work: () => void): number {
  const start = process.threadCpuUsage()
  work()
  return process.threadCpuUsage(start).user / 1e6
}

describe('five thousand entries', () => {
  test.each([
    ['with ranges that cover no entry', (at: number) => ({ skipRange: `>=99999.0.0 <99999.0.${at}` })],
    ['with ranges that cover all older entries', (at: number) => ({ skipRange: `!=1.0.0 <${at}.0.0` })],
    ['that skip names that no entry has', (at: number) => ({ skips: [`foo.v${at}.0.1`, `foo.v${at}.0.2`] })],
  ])('%s are validated in seconds', (_, more) => {
    const catalog = createReplacesChainCatalog(more)
    expect(measureCpuSeconds(() => validateCatalogWithAllRules(catalog))).toBeLessThan(8)
  })

  test('are drawn in seconds, with a limited number of skipRange edges', () => {
    const catalog = createReplacesChainCatalog((at) => ({ skipRange: `<${at}.0.0` }))
    const taken = measureCpuSeconds(() => {
      const [graph] = buildPackageGraphs(catalog)
      expect(graph?.channels[0]).toMatchObject({ isCut: true })
      const ranges = graph?.channels[0]?.edges.filter(({ kind }) => kind === 'skipRange')
      expect(ranges).toHaveLength(maxSkipRangeEdges)
      expect(renderOpmMermaid(graph ? [graph] : [])).toContain('skipRange edges; the rest are omitted')
      if (graph) {
        drawMermaid([drawPackage(graph), drawPackageDiff(undefined, graph)])
        drawSvg(drawPackage(graph))
      }
    })
    expect(taken).toBeLessThan(10)
  })

  test('get their paths to the head in seconds', () => {
    const catalog = createReplacesChainCatalog((at) => ({ skipRange: `<${at}.0.0` }))
    const installed = Array.from({ length: channelEntryCount }, (_, at) => {
      const version = parseVersion(`${at}.0.0`)
      return { name: formatBundleName(at), ...(version.ok && { version: version.value }) }
    })
    let reaching = 0
    const taken = measureCpuSeconds(() => {
      reaching = findBundlesReachingChannelHead(catalog.channels[0]?.entries ?? [], installed).size
    })
    expect(reaching).toBe(channelEntryCount)
    expect(taken).toBeLessThan(8)
  })
})

test('a range of five thousand terms is checked in seconds', () => {
  const terms = Array.from({ length: channelEntryCount }, (_, at) => `!=1.0.${at}`).join(' ')
  expect(measureCpuSeconds(() => findVersionRangePitfall(`>=1.0.0 ${terms} <2.0.0`))).toBeLessThan(8)
  expect(findVersionRangePitfall(`>=1.0.0 ${terms} <1.0.1`)?.kind).toBeUndefined()
})

describe('a file of sixty thousand keys', () => {
  const keys = Array.from({ length: 60_000 }, (_, at) => `key${at}: 1`)
  const paths = ['catalogs/v4.20/foo/catalog.yaml', 'operators/foo/catalog-templates/v4.20.yaml']
  test.each([
    [
      'package settings, with a location for each unknown key',
      () => {
        const { unknown } = parsePackageSettings({ path: 'ci.yaml', text: keys.join('\n') }, ciYamlSchema)
        expect(unknown.at(-1)).toMatchObject({ at: { line: 60_000, column: 1 }, key: 'key59999' })
      },
    ],
    [
      'a configuration, with a location for each wrong value',
      () => {
        const parsed = parseConfig(`owners:\n  packages:\n    ${keys.join('\n    ')}`)
        expect(parsed).toMatchObject({ findings: { 59_999: { at: { line: 60_002, column: 15 } } } })
      },
    ],
    [
      'package settings that map templates to catalogs',
      () => {
        const inputs = {
          trees: [paths],
          layout: detectLayout(paths, []),
          stated: [],
          ciYaml: () => keys.join('\n'),
        }
        expect(findTouchedTemplateCatalogPairs(inputs, paths)).toHaveLength(1)
      },
    ],
  ])('is read in seconds: %s', (_, read) => {
    expect(measureCpuSeconds(read)).toBeLessThan(8)
  })
})
