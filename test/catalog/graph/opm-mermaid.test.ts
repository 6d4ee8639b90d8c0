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
  const folder = mkdtempSync(join(tmpdir(), 'graph-'))
  writeFileSync(join(folder, 'c.json'), textOf(blobs))
  const theirs = opm(['alpha', 'render-graph', folder])
  rmSync(folder, { recursive: true })
  if (theirs) expect(ours(blobs)).toBe(`${theirs.out.trim()}\n`)
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
