import { describe, expect, test } from '@jest/globals'
import { drawMermaid } from '../../../../packages/fbc/src/graph/draw-mermaid.ts'
import { drawSvg } from '../../../../packages/fbc/src/graph/draw-svg.ts'
import {
  drawPackageDiff,
  drawPackage,
  type DrawnChannel,
} from '../../../../packages/fbc/src/graph/drawing.ts'
import { buildPackageGraphs, type PackageGraph } from '../../../../packages/fbc/src/graph/package-graph.ts'
import {
  buildCatalog,
  buildBundleBlob,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'

const buildGraph = (...blobs: CatalogBlob[]): PackageGraph => {
  const [found] = buildPackageGraphs(buildCatalog({ 'c/c.yaml': [buildPackageBlob('foo'), ...blobs] }, 'c'))
  if (!found) throw new Error('no channel')
  return found
}
const formatBundleName = (n: number) => `foo.v1.${n}.0`
const drawGraph = (...blobs: CatalogBlob[]) => drawPackage(buildGraph(...blobs))
const stable = (entries: Parameters<typeof buildChannelBlob>[2]) => buildChannelBlob('stable', 'foo', entries)
const chain = (length: number) =>
  Array.from({ length }, (_, n): CatalogBlob => ({
    name: formatBundleName(n),
    ...(n > 0 && { replaces: formatBundleName(n - 1) }),
  }))
const bundles = (length: number) =>
  Array.from({ length }, (_, n) => buildBundleBlob(formatBundleName(n), 'foo', `1.${n}.0`))
const formatGraphRowLabels = (drawn: DrawnChannel | undefined) =>
  drawn?.rows.map(({ label, badges, status }) => [label, status, ...badges].join(' '))

describe('a package', () => {
  test('of 150 entries, each replacing the one before, is one folded row between its ends', () => {
    const drawing = drawGraph(stable(chain(150)), ...bundles(150))
    expect(formatGraphRowLabels(drawing.channels[0])).toEqual([
      '1.149.0 same head',
      '148 versions, 1.1.0 to 1.148.0 same',
      '1.0.0 same',
    ])
    expect(drawing.channels[0]?.links).toEqual([
      { from: [1], to: 0, kind: 'replaces', status: 'same', count: 1 },
      { from: [2], to: 1, kind: 'replaces', status: 'same', count: 1 },
    ])
  })
  test('never folds a deprecated or skipping entry, or one with unusual edges', () => {
    const entries = chain(60)
    entries[20] = { name: 'foo.v1.20.0', replaces: 'foo.v1.19.0', skips: ['foo.v1.3.0'] }
    const drawing = drawGraph(
      stable(entries),
      ...bundles(60),
      buildDeprecationsBlob('foo', [['olm.bundle', 'foo.v1.40.0', 'x']]),
    )
    const shown = drawing.channels[0]?.rows
      .filter(({ names }) => names.length === 1)
      .map(({ label }) => label)
    expect(shown).toEqual(expect.arrayContaining(['1.59.0', '1.40.0', '1.20.0', '1.3.0', '1.0.0']))
    expect(drawing.channels[0]?.rows.flatMap(({ names }) => names).length).toBe(60)
  })
  test('that fits on a screen is not folded, and its channels are in natural order', () => {
    const drawing = drawGraph(
      buildChannelBlob('v1.10', 'foo', chain(20)),
      buildChannelBlob('v1.9', 'foo', chain(2)),
      ...bundles(20),
    )
    expect(drawing.channels.map(({ name, rows }) => [name, rows.length])).toEqual([
      ['v1.9', 2],
      ['v1.10', 20],
    ])
  })
  test('with no head in a channel, or several, shows this', () => {
    const [none, two] = drawGraph(
      buildChannelBlob('a', 'foo', ['x < y', 'y < x']),
      buildChannelBlob('b', 'foo', ['x', 'y']),
    ).channels
    expect(none?.badges).toEqual(['no head'])
    expect(two?.badges).toEqual(['several heads'])
    expect(formatGraphRowLabels(two)).toEqual(['y same head', 'x same head'])
  })
  test('has short channels below one another, next to a tall one, in their order', () => {
    const svg = drawSvg(
      drawGraph(
        buildChannelBlob('a', 'foo', chain(20)),
        buildChannelBlob('b', 'foo', chain(3)),
        buildChannelBlob('c', 'foo', chain(3)),
        ...bundles(20),
      ),
    )
    const positions = [...svg.matchAll(/<g transform="translate\((\d+),(\d+)\)">/g)].map(([, x, y]) => [
      +x!,
      +y!,
    ])
    const [a, b, c] = positions
    expect(b?.[1]).toBe(a?.[1])
    expect(c?.[0]).toBe(b?.[0])
    expect(c?.[1]).toBeGreaterThan(b?.[1] ?? Infinity)
  })
  test('shows a replaced entry that is not in the channel', () => {
    const drawing = drawGraph(stable(['foo.v1.1.0 < foo.v1.0.0']), ...bundles(2))
    expect(formatGraphRowLabels(drawing.channels[0])).toEqual([
      '1.1.0 same head',
      '1.0.0 same not in channel',
    ])
  })
})

describe('a diff', () => {
  const before = buildGraph(stable(chain(100)), buildChannelBlob('old', 'foo', chain(3)), ...bundles(100))
  test('shows added entries, both heads, and one folded row for the rest', () => {
    const after = buildGraph(stable(chain(101)), buildChannelBlob('old', 'foo', chain(3)), ...bundles(101))
    const drawing = drawPackageDiff(before, after)
    expect(drawing.unchanged).toBe(1)
    expect(drawing.channels.map(formatGraphRowLabels)).toEqual([
      ['1.100.0 added head', '1.99.0 same was head', '1.98.0 same', '98 versions, 1.0.0 to 1.97.0 same'],
    ])
    expect(drawing.channels[0]?.links.map(({ to, status }) => [to, status])).toEqual([
      [0, 'added'],
      [1, 'same'],
      [2, 'same'],
    ])
  })
  test('shows removed entries and their edges', () => {
    const entries = chain(100).filter(({ name }) => name !== 'foo.v1.50.0')
    const drawing = drawPackageDiff(before, buildGraph(stable(entries), ...bundles(100)))
    const [old, kept] = drawing.channels
    expect(old?.status).toBe('removed')
    expect(kept?.rows.find(({ label }) => label === '1.50.0')).toMatchObject({ status: 'removed' })
    expect(kept?.links.filter(({ status }) => status === 'removed').length).toBe(1)
  })
  test('has one note for a new head that skips eighty versions', () => {
    const entries = [
      ...chain(100),
      {
        name: 'foo.v1.100.0',
        replaces: 'foo.v1.99.0',
        skips: chain(80).map(({ name }) => name),
      } as CatalogBlob,
    ]
    const drawing = drawPackageDiff(
      before,
      buildGraph(stable(entries), buildChannelBlob('old', 'foo', chain(3)), ...bundles(101)),
    )
    expect(drawing.channels[0]?.rows[0]?.notes).toEqual([{ text: 'skips 80', status: 'added' }])
    expect(drawing.channels[0]?.rows.length).toBeLessThan(8)
  })
  test('marks new and former deprecations and default channels', () => {
    const all = [stable(chain(100)), ...bundles(100)]
    const old = buildGraph(...all, buildDeprecationsBlob('foo', [['olm.bundle', 'foo.v1.3.0', 'x']]))
    const drawing = drawPackageDiff(
      old,
      buildGraph(
        ...all,
        buildDeprecationsBlob('foo', [
          ['olm.package', '', 'x'],
          ['olm.channel', 'stable', 'x'],
          ...chain(60)
            .slice(10)
            .map(({ name }): [string, string, string] => ['olm.bundle', name as string, 'x']),
        ]),
      ),
    )
    expect(drawing.badges).toEqual(['now deprecated'])
    expect(drawing.channels[0]?.badges).toEqual(['default', 'now deprecated'])
    const rows = formatGraphRowLabels(drawing.channels[0]) ?? []
    expect(rows).toContain('1.3.0 same was deprecated')
    expect(rows).toContain('48 versions, 1.11.0 to 1.58.0 same now deprecated')
    const [moved] = buildPackageGraphs(
      buildCatalog({ 'c/c.yaml': [buildPackageBlob('foo', 'other'), ...all] }, 'c'),
    )
    expect(drawPackageDiff(old, moved).channels[0]?.badges).toEqual(['was default'])
  })
  test('shows a changed skipRange even if it covers no entry of the catalog', () => {
    const only = (skipRange: string) =>
      buildGraph(stable([{ name: 'foo.v1.9.0', skipRange }]), ...bundles(10))
    const drawing = drawPackageDiff(only('>=1.0.0 <1.9.0'), only('>=1.5.0 <1.9.0'))
    expect(drawing.channels[0]?.rows[0]?.notes).toEqual([
      { text: 'range >=1.5.0 <1.9.0', status: 'added' },
      { text: 'range >=1.0.0 <1.9.0', status: 'removed' },
    ])
    expect(drawMermaid([drawing])).toContain('+range')
    expect(drawPackage(only('>=1.0.0 <1.9.0')).channels[0]?.rows[0]?.notes).toEqual([
      { text: 'range >=1.0.0 <1.9.0', status: 'same' },
    ])
  })
  test('counts the entries of a channel before and after', () => {
    const [channels] = drawPackageDiff(
      before,
      buildGraph(stable(['foo.v1.100.0']), ...bundles(101)),
    ).channels.filter(({ name }) => name === 'stable')
    expect(channels).toMatchObject({ entries: 1, entriesBefore: 100 })
  })
  test('of identical packages is empty', () => {
    expect(drawPackageDiff(before, before)).toMatchObject({ channels: [], unchanged: 2 })
    expect(drawPackageDiff(undefined, undefined).channels).toEqual([])
    expect(drawMermaid([drawPackageDiff(before, before)])).toBeUndefined()
  })
})

describe('untrusted names', () => {
  const evil = '"]\n```\n<script>alert(1)</script>&`@all` %% ;click x "javascript:y" #quot;\u202e'
  const drawing = drawGraph(
    buildChannelBlob(evil, 'foo', [{ name: evil, skips: [evil, 'a'] }, `${evil}2 < ${evil}`]),
  )
  test('stay within their quotes in Mermaid', () => {
    const text = drawMermaid([drawing]) ?? ''
    expect(text).not.toMatch(/[`@<>;](?!br\/>|\n|$)(?<!#\d+;|<br\/>|-->|--.*>)/)
    for (const line of text.split('\n')) expect(line.split('"').length % 2).toBe(1)
    expect(text).not.toContain('<script')
    expect(text).not.toContain('```')
    expect(text).not.toContain('\u202e')
  })
  test('are escaped in SVG', () => {
    const svg = drawSvg(drawing)
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('\u202e')
    expect(svg).toContain('&lt;script&gt;')
  })
})

test('a change that is too large for Mermaid is shortened, with the number of omitted channels', () => {
  const many = Array.from({ length: 40 }, (_, n) => buildChannelBlob(`c${n}`, 'foo', chain(20)))
  const drawing = drawPackageDiff(undefined, buildGraph(...many, ...bundles(20)))
  expect(drawMermaid([drawing])).toMatch(/more\["\d+ more channels"\]/)
  expect((drawMermaid([drawing]) ?? '').length).toBeLessThan(20_000)
})

test('a drawing is rendered to the same bytes each time, with every tag closed', () => {
  const one = () => drawSvg(drawGraph(stable(chain(40)), ...bundles(40)))
  expect(one()).toBe(one())
  const open = [...one().matchAll(/<([a-z]+)[^>]*?(\/?)>|<\/([a-z]+)>/g)].reduce(
    (depth, [, tag, self]) => depth + (tag === undefined ? -1 : self === '/' ? 0 : 1),
    0,
  )
  expect(open).toBe(0)
})

test('names of characters that Mermaid needs escaped stay below the size limit of GitHub', () => {
  const names = Array.from({ length: 400 }, (_, n) => `${n}-${'\u{1f600}'.repeat(80)}`)
  const channels = names.map((name) => buildChannelBlob(name, 'foo', [name]))
  const text = drawMermaid([drawGraph(...channels)]) ?? ''
  expect(text).toMatch(/more\["\d+ more channels"\]/)
  expect(text.length).toBeLessThan(50_000)
  const empty = drawMermaid([drawGraph(...names.map((name) => buildChannelBlob(name, 'foo', [])))]) ?? ''
  expect(empty.length).toBeLessThan(50_000)
})

test('a hundred thousand channels and entries are drawn', () => {
  const row = { names: ['x'], label: 'x', badges: [], notes: [], status: 'same' } as const
  const every = Array.from({ length: 150_000 }, (_, at) => at)
  const channels = every.map((at): DrawnChannel => ({
    name: `c${at}`,
    status: 'same',
    badges: [],
    entries: 1,
    rows: at === 0 ? Array.from({ length: 150_000 }, () => row) : [],
    links: at === 0 ? [{ from: every.slice(1), to: 0, kind: 'skips', status: 'same', count: 149_999 }] : [],
  }))
  const svg = drawSvg({ package: 'foo', badges: [], compares: false, channels, unchanged: 0 })
  expect(svg.endsWith('</svg>\n')).toBe(true)
})
