// What counts as a difference between a rendered template and a checked-in catalog.
import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { computeTemplateDrift } from '../../../../packages/fbc/src/template/find-drift.ts'
import { parseWritableCatalog } from '../../../../packages/fbc/src/write/writable-catalog.ts'
import {
  buildBundleBlob,
  buildChannelBlob,
  buildDeprecationsBlob,
  buildPackageBlob,
  formatCatalogFileText,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'

const encodeCatalogBlobs = (blobs: readonly CatalogBlob[]) =>
  new TextEncoder().encode(formatCatalogFileText(blobs))

function findDrift(
  rendered: readonly CatalogBlob[],
  checkedIn: readonly CatalogBlob[],
  comparesDescriptions = true,
) {
  const writable = parseWritableCatalog([encodeCatalogBlobs(rendered)])
  if (!writable.ok) throw new Error(writable.error)
  const catalog = assembleCatalog([
    { path: 'catalog.json', facts: parseCatalogFile(encodeCatalogBlobs(checkedIn)) },
  ])
  return computeTemplateDrift(writable.value, catalog, { comparesDescriptions }).map(
    ({ kind, subject, fields, at }) =>
      `${kind} ${subject}${fields.length > 0 ? ` (${fields.join()})` : ''}${at ? ` :${at.line}` : ''}`,
  )
}
const fooBundleBlob = buildBundleBlob('foo.v1', 'foo', '1.0.0')
const fooBlobs = [buildPackageBlob('foo'), buildChannelBlob('stable', 'foo', ['foo.v1']), fooBundleBlob]
const csvMetadataProperty = { type: 'olm.csv.metadata', value: { displayName: 'Foo' } }
const bundleObjectProperty = { type: 'olm.bundle.object', value: { data: 'e30=' } }
const packageProperty = { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } }

describe('there is no drift', () => {
  test('if only order and formatting differ', () => {
    const properties = [packageProperty, { type: 'olm.gvk', value: { group: 'g', kind: 'K', version: 'v1' } }]
    const turned = [{ type: 'olm.gvk', value: { version: 'v1', kind: 'K', group: 'g' } }, packageProperty]
    expect(
      findDrift(
        [buildPackageBlob('foo'), { ...fooBundleBlob, properties }, ...fooBlobs.slice(1, 2)],
        [...fooBlobs.slice(1, 2), { ...fooBundleBlob, properties: turned }, buildPackageBlob('foo')],
      ),
    ).toEqual([])
    const skipping = (...skips: string[]) => buildChannelBlob('stable', 'foo', [{ name: 'foo.v1', skips }])
    expect(findDrift([skipping('a', 'b')], [skipping('b', 'a')])).toEqual([])
  })
  test('if a bundle stores its metadata in another form', () => {
    const withProperties = (...properties: CatalogBlob[]) => [
      { ...fooBundleBlob, properties: [packageProperty, ...properties] },
    ]
    expect(findDrift(withProperties(bundleObjectProperty), withProperties(csvMetadataProperty))).toEqual([])
  })
})

describe('a difference is reported', () => {
  test('for an entire channel, and for a single entry if both sides have the channel', () => {
    const two = buildChannelBlob('stable', 'foo', ['foo.v1', 'foo.v2 < foo.v1'])
    const other = buildChannelBlob('fast', 'foo', ['foo.v1'])
    expect(findDrift([...fooBlobs, other], fooBlobs)).toEqual(['missing channel fast'])
    expect(findDrift(fooBlobs, [...fooBlobs, other])).toEqual(['extra channel fast :4'])
    expect(findDrift([buildPackageBlob('foo'), two, fooBundleBlob], fooBlobs)).toEqual([
      'missing entry foo.v2 of channel stable :2',
    ])
    expect(findDrift(fooBlobs, [buildPackageBlob('foo'), two, fooBundleBlob])).toEqual([
      'extra entry foo.v2 of channel stable :2',
    ])
  })
  test.each<[string, CatalogBlob]>([
    ['replaces', { replaces: 'foo.v0' }],
    ['skips', { skips: ['foo.v0'] }],
    ['skipRange', { skipRange: '<1.0.0' }],
  ])('for the %s of an entry', (field, more) => {
    const edged = buildChannelBlob('stable', 'foo', [{ name: 'foo.v1', ...more }])
    expect(findDrift([buildPackageBlob('foo'), edged, fooBundleBlob], fooBlobs)).toEqual([
      `differs entry foo.v1 of channel stable (${field}) :2`,
    ])
  })
  test.each<[string, CatalogBlob]>([
    ['image', { image: 'quay.io/other:1' }],
    ['properties', { properties: [{ ...packageProperty, value: { packageName: 'foo', version: '1.0.1' } }] }],
    ['related images', { relatedImages: [{ name: 'x', image: 'quay.io/x:1' }] }],
  ])('for the %s of a bundle', (field, more) => {
    expect(findDrift([...fooBlobs.slice(0, 2), { ...fooBundleBlob, ...more }], fooBlobs)).toEqual([
      `differs bundle foo.v1 (${field}) :3`,
    ])
  })
  test('for packages, deprecations, and blobs of other schemas', () => {
    expect(findDrift([buildPackageBlob('foo', 'fast')], [buildPackageBlob('foo')])).toEqual([
      'differs package foo (default channel) :1',
    ])
    expect(findDrift([buildPackageBlob('foo')], [])).toEqual(['missing package foo'])
    const deprecated = (message: string) => buildDeprecationsBlob('foo', [['olm.channel', 'stable', message]])
    expect(findDrift([deprecated('a')], [deprecated('b')])).toEqual([
      'differs deprecation of channel stable (message) :1',
    ])
    expect(findDrift([], [{ schema: 'mine', package: 'foo', name: 'x' }])).toEqual(['extra mine blob x :1'])
  })
  test('for descriptions, unless they are excluded from the comparison', () => {
    const described = buildPackageBlob('foo', 'stable', { description: 'Foo' })
    expect(findDrift([described], [buildPackageBlob('foo')])).toEqual([
      'differs package foo (description) :1',
    ])
    expect(findDrift([described], [buildPackageBlob('foo')], false)).toEqual([])
  })
})
