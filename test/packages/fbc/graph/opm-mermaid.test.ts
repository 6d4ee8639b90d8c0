import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { renderOpmMermaid } from '../../../../packages/fbc/src/graph/draw-mermaid.ts'
import { buildPackageGraphs } from '../../../../packages/fbc/src/graph/package-graph.ts'
import {
  buildCatalog,
  buildBundleBlob,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  formatCatalogFileText,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'
import { parseJsonObjects, runOpm } from '../../../run-opm.ts'
import { findSharedPath } from '../../../shared-data.ts'

const renderMermaidFromBlobs = (blobs: readonly CatalogBlob[]) =>
  renderOpmMermaid(buildPackageGraphs(buildCatalog({ 'c/c.yaml': blobs }, 'c')))
const sortLines = (text: string) => text.trim().split('\n').sort()

/** What opm prints; undefined if opm is not installed. */
function renderMermaidWithOpm(blobs: readonly CatalogBlob[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'graph-'))
  writeFileSync(join(folder, 'c.json'), formatCatalogFileText(blobs))
  const theirs = runOpm(['alpha', 'render-graph', folder])
  rmSync(folder, { recursive: true })
  return theirs && `${theirs.out.trim()}\n`
}

test('opm renders the same graph of skips, ranges, entries without bundles, and deprecations', () => {
  const blobs = [
    buildPackageBlob('foo', 'b'),
    buildChannelBlob('b', 'foo', [
      { name: 'v3', replaces: 'v1', skips: ['v2', 'gone'], skipRange: '>=1.0.0 <=3.0.0' },
      { name: 'v1', skipRange: 'bad range' },
      'v2 < nowhere',
      'ghost',
    ]),
    buildChannelBlob('a channel', 'foo', [
      { name: 'v3', skipRange: '<3.0.0' },
      'v2',
      'v10 < v2',
      { name: 'v1', skips: ['v1'] },
    ]),
    ...[1, 2, 3, 10].map((n) => buildBundleBlob(`v${n}`, 'foo', `${n}.0.0`)),
    buildDeprecationsBlob('foo', [
      ['olm.package', '', 'x'],
      ['olm.channel', 'b', 'x'],
      ['olm.bundle', 'v1', 'x'],
      ['olm.bundle', 'v2', 'x'],
    ]),
  ]
  expect(renderMermaidFromBlobs(blobs)).toContain('foo-b-gone["gone"]-- skip --> foo-b-v3["v3"]')
  const theirs = renderMermaidWithOpm(blobs)
  if (theirs !== undefined) expect(renderMermaidFromBlobs(blobs)).toBe(theirs)
})

test('opm quotes names in the same way, and no name puts control characters into the graph', () => {
  const name = 'v1"]; click x "javascript:alert(1)" \\ \u00e9'
  const blobs = [
    buildPackageBlob('foo', 'a "channel"'),
    buildChannelBlob('a "channel"', 'foo', [{ name, replaces: 'gone "' }]),
    buildBundleBlob(name, 'foo', '1.0.0'),
  ]
  const theirs = renderMermaidWithOpm(blobs)
  if (theirs !== undefined) expect(renderMermaidFromBlobs(blobs)).toBe(theirs)
  expect(renderMermaidFromBlobs(blobs)).toContain('["v1\\"]; click x')
  const hostile = 'v1\n\u001b[31m\u202e'
  const text = renderMermaidFromBlobs([
    buildPackageBlob('foo', hostile),
    buildChannelBlob(hostile, 'foo', [{ name: hostile, replaces: hostile }]),
  ])
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  expect(text.split('\n').length).toBe(13)
})

test('opm renders the same graphs of a real catalog', () => {
  const folder = findSharedPath('community-operators', 'catalogs', 'v4.22')
  if (folder === undefined) return
  const theirs = runOpm(['alpha', 'render-graph', folder])
  const rendered = runOpm(['render', folder, '-o', 'json'])
  if (!theirs || !rendered) return
  const blobs = parseJsonObjects(rendered.out) as CatalogBlob[]
  expect(sortLines(renderMermaidFromBlobs(blobs))).toEqual(sortLines(theirs.out))
})
