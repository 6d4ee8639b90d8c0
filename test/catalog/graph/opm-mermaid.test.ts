import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { opmMermaid } from '../../../src/catalog/graph/opm-mermaid.ts'
import { packageGraphs } from '../../../src/catalog/graph/package-graph.ts'
import {
  buildCatalog,
  bundle,
  channel,
  deprecations,
  pkg,
  textOf,
  type Blob,
} from '../../change/build-catalog.ts'
import { objectsOf, opm } from '../../opm.ts'
import { sharedPath } from '../../shared.ts'

const ours = (blobs: readonly Blob[]) => opmMermaid(packageGraphs(buildCatalog({ 'c/c.yaml': blobs }, 'c')))
const lines = (text: string) => text.trim().split('\n').sort()

/** What opm prints; undefined where there is no opm. */
function renderGraph(blobs: readonly Blob[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'graph-'))
  writeFileSync(join(folder, 'c.json'), textOf(blobs))
  const theirs = opm(['alpha', 'render-graph', folder])
  rmSync(folder, { recursive: true })
  return theirs && `${theirs.out.trim()}\n`
}

test('opm draws the same picture of skips, ranges, strangers and deprecations', () => {
  const blobs = [
    pkg('foo', 'b'),
    channel('b', 'foo', [
      { name: 'v3', replaces: 'v1', skips: ['v2', 'gone'], skipRange: '>=1.0.0 <=3.0.0' },
      { name: 'v1', skipRange: 'bad range' },
      'v2 < nowhere',
      'ghost',
    ]),
    channel('a channel', 'foo', [
      { name: 'v3', skipRange: '<3.0.0' },
      'v2',
      'v10 < v2',
      { name: 'v1', skips: ['v1'] },
    ]),
    ...[1, 2, 3, 10].map((n) => bundle(`v${n}`, 'foo', `${n}.0.0`)),
    deprecations('foo', [
      ['olm.package', '', 'x'],
      ['olm.channel', 'b', 'x'],
      ['olm.bundle', 'v1', 'x'],
      ['olm.bundle', 'v2', 'x'],
    ]),
  ]
  expect(ours(blobs)).toContain('foo-b-gone["gone"]-- skip --> foo-b-v3["v3"]')
  const theirs = renderGraph(blobs)
  if (theirs !== undefined) expect(ours(blobs)).toBe(theirs)
})

test('opm quotes the same names in the same way, and no name commands a terminal', () => {
  const name = 'v1"]; click x "javascript:alert(1)" \\ \u00e9'
  const blobs = [
    pkg('foo', 'a "channel"'),
    channel('a "channel"', 'foo', [{ name, replaces: 'gone "' }]),
    bundle(name, 'foo', '1.0.0'),
  ]
  const theirs = renderGraph(blobs)
  if (theirs !== undefined) expect(ours(blobs)).toBe(theirs)
  expect(ours(blobs)).toContain('["v1\\"]; click x')
  const hostile = 'v1\n\u001b[31m\u202e'
  const text = ours([pkg('foo', hostile), channel(hostile, 'foo', [{ name: hostile, replaces: hostile }])])
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  expect(text.split('\n').length).toBe(13)
})

test('opm draws the same pictures of a real catalog', () => {
  const folder = sharedPath('community-operators', 'catalogs', 'v4.22')
  if (folder === undefined) return
  const theirs = opm(['alpha', 'render-graph', folder])
  const rendered = opm(['render', folder, '-o', 'json'])
  if (!theirs || !rendered) return
  const blobs = objectsOf(rendered.out) as Blob[]
  expect(lines(ours(blobs))).toEqual(lines(theirs.out))
})
