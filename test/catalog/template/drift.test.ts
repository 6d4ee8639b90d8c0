// What counts as a difference between a rendered template and a catalog that was checked in.
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../../src/catalog/facts/assemble.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { findDrift } from '../../../src/catalog/template/drift.ts'
import { readWritable } from '../../../src/catalog/write/writable.ts'
import { bundle, channel, deprecations, pkg, textOf, type Blob } from '../../change/build-catalog.ts'

const bytes = (blobs: readonly Blob[]) => new TextEncoder().encode(textOf(blobs))

function drift(rendered: readonly Blob[], checkedIn: readonly Blob[], comparesDescriptions = true) {
  const writable = readWritable([bytes(rendered)])
  if (!writable.ok) throw new Error(writable.error)
  const catalog = assemble([{ path: 'catalog.json', facts: readFile(bytes(checkedIn)) }])
  return findDrift(writable.value, catalog, { comparesDescriptions }).map(
    ({ kind, subject, fields, at }) =>
      `${kind} ${subject}${fields.length > 0 ? ` (${fields.join()})` : ''}${at ? ` :${at.line}` : ''}`,
  )
}
const first = bundle('foo.v1', 'foo', '1.0.0')
const base = [pkg('foo'), channel('stable', 'foo', ['foo.v1']), first]
const metadata = { type: 'olm.csv.metadata', value: { displayName: 'Foo' } }
const object = { type: 'olm.bundle.object', value: { data: 'e30=' } }
const version = { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } }

describe('nothing differs', () => {
  test('where order and formatting do', () => {
    const properties = [version, { type: 'olm.gvk', value: { group: 'g', kind: 'K', version: 'v1' } }]
    const turned = [{ type: 'olm.gvk', value: { version: 'v1', kind: 'K', group: 'g' } }, version]
    expect(
      drift(
        [pkg('foo'), { ...first, properties }, ...base.slice(1, 2)],
        [...base.slice(1, 2), { ...first, properties: turned }, pkg('foo')],
      ),
    ).toEqual([])
    const skipping = (...skips: string[]) => channel('stable', 'foo', [{ name: 'foo.v1', skips }])
    expect(drift([skipping('a', 'b')], [skipping('b', 'a')])).toEqual([])
  })
  test('where a bundle keeps its metadata in another way', () => {
    const withProperties = (...properties: Blob[]) => [{ ...first, properties: [version, ...properties] }]
    expect(drift(withProperties(object), withProperties(metadata))).toEqual([])
  })
})

describe('a difference is told', () => {
  test('for a channel as a whole, and for an entry where the channel is there', () => {
    const two = channel('stable', 'foo', ['foo.v1', 'foo.v2 < foo.v1'])
    const other = channel('fast', 'foo', ['foo.v1'])
    expect(drift([...base, other], base)).toEqual(['missing channel fast'])
    expect(drift(base, [...base, other])).toEqual(['extra channel fast :4'])
    expect(drift([pkg('foo'), two, first], base)).toEqual(['missing entry foo.v2 of channel stable :2'])
    expect(drift(base, [pkg('foo'), two, first])).toEqual(['extra entry foo.v2 of channel stable :2'])
  })
  test.each<[string, Blob]>([
    ['replaces', { replaces: 'foo.v0' }],
    ['skips', { skips: ['foo.v0'] }],
    ['skipRange', { skipRange: '<1.0.0' }],
  ])('for the %s of an entry', (field, more) => {
    const edged = channel('stable', 'foo', [{ name: 'foo.v1', ...more }])
    expect(drift([pkg('foo'), edged, first], base)).toEqual([
      `differs entry foo.v1 of channel stable (${field}) :2`,
    ])
  })
  test.each<[string, Blob]>([
    ['image', { image: 'quay.io/other:1' }],
    ['properties', { properties: [{ ...version, value: { packageName: 'foo', version: '1.0.1' } }] }],
    ['related images', { relatedImages: [{ name: 'x', image: 'quay.io/x:1' }] }],
  ])('for the %s of a bundle', (field, more) => {
    expect(drift([...base.slice(0, 2), { ...first, ...more }], base)).toEqual([
      `differs bundle foo.v1 (${field}) :3`,
    ])
  })
  test('for packages, deprecations and blobs of other schemas', () => {
    expect(drift([pkg('foo', 'fast')], [pkg('foo')])).toEqual(['differs package foo (default channel) :1'])
    expect(drift([pkg('foo')], [])).toEqual(['missing package foo'])
    const gone = (message: string) => deprecations('foo', [['olm.channel', 'stable', message]])
    expect(drift([gone('a')], [gone('b')])).toEqual(['differs deprecation of channel stable (message) :1'])
    expect(drift([], [{ schema: 'mine', package: 'foo', name: 'x' }])).toEqual(['extra mine blob x :1'])
  })
  test('for description and icon, unless one side does not know them', () => {
    const described = pkg('foo', 'stable', { description: 'Foo' })
    expect(drift([described], [pkg('foo')])).toEqual(['differs package foo (description) :1'])
    expect(drift([described], [pkg('foo')], false)).toEqual([])
  })
})
