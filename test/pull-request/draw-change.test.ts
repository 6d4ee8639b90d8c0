import { expect, test } from '@jest/globals'
import { renderChangeAsMermaid, drawChange } from '../../src/pull-request/draw-change.ts'
import { bundleBlob, computeCatalogChange, channelBlob, packageBlob } from './build-catalog.ts'

const twoCatalogLayout = {
  catalogs: ['4.9', '4.20'].map((version) => ({ root: `catalogs/v${version}`, version })),
}
const blobsBefore = [
  packageBlob('foo'),
  channelBlob('stable', 'foo', ['v1']),
  bundleBlob('v1', 'foo', '1.0.0'),
]
const blobsAfter = [
  packageBlob('foo'),
  channelBlob('stable', 'foo', ['v1', 'v2 < v1']),
  bundleBlob('v1', 'foo', '1.0.0'),
  bundleBlob('v2', 'foo', '2.0.0'),
]
const filesInBothCatalogs = (content: typeof blobsBefore) => ({
  'catalogs/v4.9/f/c.yaml': content,
  'catalogs/v4.20/f/c.yaml': content,
})

test('the same change in two catalogs is one picture', () => {
  const change = computeCatalogChange(
    filesInBothCatalogs(blobsBefore),
    filesInBothCatalogs(blobsAfter),
    twoCatalogLayout,
  )
  expect(drawChange(change).map(({ catalogs, drawing }) => [catalogs, drawing.channels.length])).toEqual([
    [['4.9', '4.20'], 1],
  ])
  expect(renderChangeAsMermaid(change)).toContain('+ 2.0.0')
})

test('a change that touches no channel, and a package that goes, have no picture', () => {
  expect(
    renderChangeAsMermaid(
      computeCatalogChange(
        filesInBothCatalogs(blobsBefore),
        filesInBothCatalogs([packageBlob('foo', 'stable', { description: 'x' }), ...blobsBefore.slice(1)]),
        twoCatalogLayout,
      ),
    ),
  ).toBeUndefined()
  expect(
    drawChange(
      computeCatalogChange(
        filesInBothCatalogs(blobsBefore),
        { 'catalogs/v4.9/g/c.yaml': [] },
        twoCatalogLayout,
      ),
    ),
  ).toEqual([])
})
