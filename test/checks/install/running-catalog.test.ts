// Whether a catalog runs, as a server of it answers, and whether its image starts one.
import { describe, expect, test } from '@jest/globals'
import { servedCatalog } from '../../../src/catalog/api/served-catalog.ts'
import { readServedFile } from '../../../src/catalog/api/served-file.ts'
import { askServed } from '../../../src/checks/install/ask-served.ts'
import { hasInlineObjects, inlineBundle } from '../../../src/checks/install/inline-bundle.ts'
import {
  runningStep,
  type AskedServer,
  type CatalogImage,
} from '../../../src/checks/install/running-catalog.ts'
import { catalogOf } from './resolve-problem.ts'
import { writtenBlobs } from './written-catalog.ts'

const blobs = writtenBlobs(['foo/stable 1.1.0 replaces 1.0.0', 'foo/stable 1.0.0'])
const about = { catalog: catalogOf(blobs), package: 'foo', channel: 'stable', head: 'foo.v1.1.0' }
const asked = askServed(
  servedCatalog([
    {
      path: 'a.json',
      file: readServedFile(new TextEncoder().encode(blobs.map((blob) => JSON.stringify(blob)).join('\n'))),
    },
  ]),
  'foo',
)
if (asked.kind !== 'answered') throw new Error(asked.reason)

const runs = (...servers: readonly AskedServer[]) => runningStep({ asked: servers, images: [] }, about)

describe('a catalog runs', () => {
  test('where its server gives the package with its channels and bundles', () => {
    expect(runs(asked)).toMatchObject({ outcome: 'passed', remarks: [] })
  })

  test.each<[string, Partial<typeof asked>]>([
    ['lacks the package', { packages: [] }],
    ['has another default channel', { defaultChannel: 'fast' }],
    ['has another head', { channels: [{ name: 'stable', head: 'foo.v1.0.0' }] }],
    ['lacks the channel', { channels: [] }],
    ['lacks a bundle', { bundles: asked.bundles.slice(1) }],
    ['refuses a call', { refusals: ['no bundle'] }],
  ])('not where it %s', (_which, differences) => {
    expect(runs({ ...asked, ...differences })).toMatchObject({ outcome: 'failed' })
  })

  test('not where a server refuses it, and a server that could not be asked says nothing', () => {
    expect(runs({ server: 'opm', kind: 'refused', reason: 'bad' }).outcome).toBe('failed')
    expect(runs(asked, { server: 'opm', kind: 'unknown', reason: 'not there' }).outcome).toBe('unknown')
  })

  test('is not said where nobody was asked', () => {
    expect(runningStep(undefined, about).outcome).toBe('left out')
  })
})

describe('a catalog image', () => {
  const image: CatalogImage = {
    reference: 'registry.example/catalog:1',
    directory: 'configs',
    entrypoint: ['/bin/opm'],
    command: ['serve', '/configs', '--cache-dir=/tmp/cache'],
    user: '1001',
    platform: 'linux/amd64',
  }
  test.each<[string, Partial<CatalogImage>]>([
    ['passed', {}],
    ['failed', { directory: undefined }],
    ['failed', { command: ['render', '/configs'] }],
    ['failed', { command: ['serve', '/other'] }],
    ['warning', { user: '0' }],
    ['warning', { entrypoint: ['/bin/sh'] }],
  ])('%s: %j', (outcome, differences) => {
    const images = [{ ...image, ...differences }]
    expect(runningStep({ asked: [asked], images }, about).outcome).toBe(outcome)
  })
})

describe('a bundle in the catalog', () => {
  const [blob] = about.catalog.bundles
  if (!blob) throw new Error('no bundle')
  const inline = { ...blob, properties: [{ mark: blob.place, type: 'olm.bundle.object', value: null }] }
  const csv = JSON.stringify({ kind: 'ClusterServiceVersion' })

  test('is one where a ClusterServiceVersion is among its objects', () => {
    const files = inlineBundle(about.catalog, inline, [csv, '{"kind":"Service"}'])
    expect([...(files?.keys() ?? [])]).toEqual([
      'manifests/object-1.json',
      'manifests/object-2.json',
      'metadata/annotations.yaml',
    ])
  })

  test('is none of olm.csv.metadata, of objects without one, or of what is no JSON', () => {
    expect(hasInlineObjects(blob)).toBe(false)
    expect(inlineBundle(about.catalog, blob, [csv])).toBeUndefined()
    expect(inlineBundle(about.catalog, inline, ['{"kind":"Service"}'])).toBeUndefined()
    expect(inlineBundle(about.catalog, inline, [csv, '{'])).toBeUndefined()
  })
})
