import { expect, test } from '@jest/globals'
import { renderChangeAsMermaid, drawUpgradeGraphChanges } from '../../src/pull-request/describe-change.ts'
import { buildBundleBlob, computeCatalogChange, buildChannelBlob, buildPackageBlob } from './build-catalog.ts'

const twoCatalogLayout = {
  catalogs: ['4.9', '4.20'].map((version) => ({ root: `catalogs/v${version}`, version })),
}
const catalogBlobsBeforeChange = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['v1']),
  buildBundleBlob('v1', 'foo', '1.0.0'),
]
const catalogBlobsAfterChange = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['v1', 'v2 < v1']),
  buildBundleBlob('v1', 'foo', '1.0.0'),
  buildBundleBlob('v2', 'foo', '2.0.0'),
]
const createFilesInBothCatalogs = (content: typeof catalogBlobsBeforeChange) => ({
  'catalogs/v4.9/f/c.yaml': content,
  'catalogs/v4.20/f/c.yaml': content,
})

test('the same change in two catalogs is one diagram', () => {
  const change = computeCatalogChange(
    createFilesInBothCatalogs(catalogBlobsBeforeChange),
    createFilesInBothCatalogs(catalogBlobsAfterChange),
    twoCatalogLayout,
  )
  expect(
    drawUpgradeGraphChanges(change).map(({ catalogs, drawing }) => [catalogs, drawing.channels.length]),
  ).toEqual([[['4.9', '4.20'], 1]])
  expect(renderChangeAsMermaid(change)).toContain('+ 2.0.0')
})

test('a change of no channel and a removed package have no diagram', () => {
  expect(
    renderChangeAsMermaid(
      computeCatalogChange(
        createFilesInBothCatalogs(catalogBlobsBeforeChange),
        createFilesInBothCatalogs([
          buildPackageBlob('foo', 'stable', { description: 'x' }),
          ...catalogBlobsBeforeChange.slice(1),
        ]),
        twoCatalogLayout,
      ),
    ),
  ).toBeUndefined()
  expect(
    drawUpgradeGraphChanges(
      computeCatalogChange(
        createFilesInBothCatalogs(catalogBlobsBeforeChange),
        { 'catalogs/v4.9/g/c.yaml': [] },
        twoCatalogLayout,
      ),
    ),
  ).toEqual([])
})
