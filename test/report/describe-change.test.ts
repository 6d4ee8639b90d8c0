import { describe, expect, test } from '@jest/globals'
import {
  formatDescriptionLinesAsMarkdown,
  formatDescriptionLinesAsText,
  describePullRequestChangeAsLines,
} from '../../src/report/describe-change.ts'
import {
  buildBundleBlob,
  computeCatalogChange,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  type CatalogFiles,
} from '../pull-request/build-catalog.ts'

const blobsBefore = [
  buildPackageBlob('kube-green', 'alpha'),
  buildChannelBlob('alpha', 'kube-green', ['kube-green.v0.7.0']),
  buildBundleBlob('kube-green.v0.7.0', 'kube-green', '0.7.0'),
]
const catalogBlobsAfterChange = [
  buildPackageBlob('kube-green', 'alpha'),
  buildChannelBlob('alpha', 'kube-green', ['kube-green.v0.7.0', 'kube-green.v0.7.1 < kube-green.v0.7.0']),
  buildBundleBlob('kube-green.v0.7.0', 'kube-green', '0.7.0'),
  buildBundleBlob('kube-green.v0.7.1', 'kube-green', '0.7.1'),
]
const twoCatalogLayout = {
  catalogs: ['4.9', '4.20'].map((version) => ({ root: `catalogs/v${version}`, version })),
}
const describeCatalogChangeAsLines = (base: CatalogFiles, result: CatalogFiles) =>
  describePullRequestChangeAsLines(computeCatalogChange(base, result, twoCatalogLayout))
const formatChange = (base: CatalogFiles, result: CatalogFiles) =>
  formatDescriptionLinesAsText(describeCatalogChangeAsLines(base, result))
const formatSingleFileChange = (result: CatalogFiles[string]) =>
  formatChange({ 'catalogs/v4.20/k/c.yaml': blobsBefore }, { 'catalogs/v4.20/k/c.yaml': result })

describe('the description lists', () => {
  test('added bundles, once for all catalogs that get them', () => {
    const base = { 'catalogs/v4.9/k/c.yaml': blobsBefore, 'catalogs/v4.20/k/c.yaml': blobsBefore }
    const result = {
      'catalogs/v4.9/k/c.yaml': catalogBlobsAfterChange,
      'catalogs/v4.20/k/c.yaml': catalogBlobsAfterChange,
    }
    expect(formatChange(base, result)).toEqual([
      'kube-green in 4.9, 4.20:',
      '  0.7.1 added to channel alpha, replaces 0.7.0',
      '  channel alpha: head 0.7.0 → 0.7.1',
    ])
  })
  test('edited published bundles, with the edited fields', () => {
    expect(
      formatSingleFileChange([...blobsBefore.slice(0, 2), { ...blobsBefore[2]!, image: 'x', extra: 1 }]),
    ).toEqual(['kube-green in 4.20:', '  published bundle 0.7.0 edited: image'])
  })
  test('added and removed packages', () => {
    expect(
      formatChange(
        { 'catalogs/v4.20/k/c.yaml': blobsBefore },
        {
          'catalogs/v4.20/n/c.yaml': [
            buildPackageBlob('new', 'alpha'),
            buildChannelBlob('alpha', 'new', ['a']),
          ],
        },
      ),
    ).toEqual([
      'kube-green removed, with 1 bundle in 4.20',
      'new is new in 4.20:',
      '  0 bundles, channel alpha; default channel alpha',
    ])
  })
  test('channels, default channels, and deprecations', () => {
    expect(
      formatSingleFileChange([
        buildPackageBlob('kube-green', 'beta', { description: 'd' }),
        buildChannelBlob('beta', 'kube-green', [
          { name: 'kube-green.v0.7.0', skipRange: '<0.7.0', skips: ['a', 'b'] },
        ]),
        blobsBefore[2]!,
        buildDeprecationsBlob('kube-green', [
          ['olm.package', '', 'm'],
          ['olm.bundle', 'kube-green.v0.7.0', 'm'],
        ]),
        { schema: 'mine', package: 'kube-green' },
      ]),
    ).toEqual([
      'kube-green in 4.20:',
      '  new channel beta',
      '  channel alpha removed',
      '  default channel alpha → beta',
      '  package metadata: description',
      '  the package is now deprecated',
      '  bundle 0.7.0 is now deprecated',
      '  1 other blob changed',
    ])
  })
  test('files outside catalogs', () => {
    const result = {
      'operators/k/ci.yaml': 'x',
      'operators/k/1/a.yaml': 'x',
      'operators/k/1/b.yaml': 'x',
      Makefile: 'x',
    }
    expect(formatChange({}, result)).toEqual([
      'sources of k: 2 files',
      'owner file operators/k/ci.yaml',
      '1 file outside packages: Makefile',
    ])
  })
  test('files with moved blobs if nothing else changes', () => {
    const blobs = [buildPackageBlob('kube-green'), buildChannelBlob('stable', 'kube-green', [])]
    expect(
      formatChange(
        { 'catalogs/v4.20/k/catalog.yaml': blobs },
        { 'catalogs/v4.20/k/package.yaml': [blobs[0]!], 'catalogs/v4.20/k/channel.yaml': [blobs[1]!] },
      ),
    ).toEqual([
      'No catalog changes. 3 files change without affecting the catalogs: catalogs/v4.20/k/catalog.yaml, catalogs/v4.20/k/channel.yaml, catalogs/v4.20/k/package.yaml',
    ])
  })
  test('no changes for an empty change', () => {
    expect(formatChange({}, {})).toEqual(['No changes: the base branch already contains everything.'])
  })
})

test('names are code spans in Markdown, and cannot end them', () => {
  const evil = '`@admin` fixes #1\n# x'
  const found = formatDescriptionLinesAsMarkdown(
    describeCatalogChangeAsLines(
      {},
      { 'catalogs/v4.20/n/c.yaml': [buildPackageBlob(evil), buildChannelBlob(evil, evil, [])] },
    ),
  )
  expect(found[0]).toBe('- `` `@admin` fixes #1 # x `` is new in `4.20`:')
  expect(found.join('\n').split('\n').length).toBe(2)
})

test('the description of a large change has a limited length', () => {
  const many = Array.from({ length: 200 }, (_, at) => buildPackageBlob(`p${at}`))
  const found = describeCatalogChangeAsLines({}, { 'catalogs/v4.20/n/c.yaml': many })
  expect(found.length).toBe(61)
  expect(found.at(-1)?.words).toEqual(['… and 340 more lines.'])
})
