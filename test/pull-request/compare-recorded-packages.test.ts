// Comparing two states of a recorded package.
import { describe, expect, test } from '@jest/globals'
import { compareRecordedPackages } from '../../src/pull-request/compare-recorded-packages.ts'
import type { RecordedPackage } from '../../src/pull-request/recorded-package.ts'

const edge = (from: string, to: string) => ({ kind: 'replaces' as const, from, to })
const base: RecordedPackage = {
  name: 'buoy',
  description: 'a buoy',
  defaultChannel: 'stable',
  owners: ['ann'],
  channels: [
    { name: 'old', entries: 1, heads: ['buoy.v1'], isDefault: false },
    { name: 'stable', entries: 2, heads: ['buoy.v2'], isDefault: true },
  ],
  bundles: [
    { name: 'buoy.v2', version: '2.0.0', image: 'x/y:2', channels: ['stable'] },
    { name: 'buoy.v1', version: '1.0.0', image: 'x/y:1', channels: ['old', 'stable'], isStranded: true },
  ],
  images: [{ reference: 'x/y:1', bundles: ['buoy.v1'] }],
  graph: {
    name: 'buoy',
    deprecated: false,
    channels: [
      {
        name: 'stable',
        isDefault: true,
        deprecated: false,
        heads: ['buoy.v2'],
        nodes: [],
        edges: [edge('buoy.v1', 'buoy.v2')],
      },
    ],
  },
}
const [stableGraph] = base.graph?.channels ?? []
const changesBetween = (before: RecordedPackage, after: RecordedPackage) =>
  compareRecordedPackages({ before, after }).changes.map(({ what, channel, names }) =>
    [...(channel === undefined ? [] : [`${channel}:`]), what, ...names].join(' '),
  )

describe('a package in two catalogs', () => {
  test('is new or removed as a whole', () => {
    expect(compareRecordedPackages({ after: base })).toEqual({
      name: 'buoy',
      kind: 'added',
      bundles: 2,
      changes: [
        { what: 'Channels', names: ['old', 'stable'] },
        { what: 'Bundles', names: ['buoy.v2', 'buoy.v1'] },
      ],
    })
    expect(compareRecordedPackages({ before: base }).kind).toBe('removed')
  })

  test('differs in its channels, heads, entries, and edges', () => {
    const after: RecordedPackage = {
      ...base,
      defaultChannel: 'fast',
      channels: [
        { name: 'fast', entries: 1, heads: ['buoy.v3'], isDefault: true },
        { name: 'stable', entries: 3, heads: ['buoy.v3'], isDefault: false, deprecated: 'use fast' },
      ],
      graph: {
        name: 'buoy',
        deprecated: false,
        channels: stableGraph === undefined ? [] : [{ ...stableGraph, edges: [edge('buoy.v2', 'buoy.v3')] }],
      },
    }
    expect(changesBetween(base, after)).toEqual([
      'Channels added fast',
      'Channels removed old',
      'Default channel stable → fast',
      'stable: Head buoy.v2 → buoy.v3',
      'stable: Upgrade edges added buoy.v2 → buoy.v3 (replaces)',
      'stable: Upgrade edges removed buoy.v1 → buoy.v2 (replaces)',
      'stable: Other changes number of entries deprecation',
    ])
  })

  test('differs in its bundles, images, owners, and descriptions', () => {
    const after: RecordedPackage = {
      ...base,
      deprecated: 'sunk',
      description: 'another buoy',
      owners: [],
      bundles: [
        { name: 'buoy.v3', version: '3.0.0', image: 'x/y:3', channels: ['stable'] },
        {
          name: 'buoy.v1',
          version: '1.0.0',
          image: 'x/y:new',
          channels: ['stable'],
          deprecated: 'old',
          minKubeVersion: '1.30.0',
        },
      ],
      images: [{ reference: 'x/y:new', bundles: ['buoy.v1'] }],
    }
    expect(changesBetween(base, after)).toEqual([
      'Bundles added buoy.v3',
      'Bundles removed buoy.v2',
      'Bundles changed buoy.v1 (image, channels, deprecation, Kubernetes version, upgrade path)',
      'Other changes description owners deprecation images',
    ])
  })

  test('shows no edges if one of the graphs is too big to be recorded', () => {
    const { graph: _, ...withoutGraph } = base
    expect(changesBetween(base, withoutGraph)).toEqual([])
  })
})
