// Whether a catalog runs according to the answers of its server, and whether its image starts a server.
import { describe, expect, test } from '@jest/globals'
import { buildServedCatalog, parseServedCatalogFile } from '../../../packages/fbc/src/api/served-catalog.ts'
import {
  hasBundleObjectProperties,
  readInlineBundle,
  simulateCatalogServerResponse,
} from '../../../src/checks/install/served-bundles.ts'
import {
  createCatalogServerStep,
  type CatalogServerImageConfig,
} from '../../../src/checks/install/running-catalog.ts'
import { assembleCatalogFromBlobs } from './resolve-problem.ts'
import { parseCatalogBlobsFromLines } from './parse-catalog-lines.ts'
import type { CatalogServerResponse } from '../../../packages/fbc/src/api/api-types.ts'

const catalogBlobs = parseCatalogBlobsFromLines(['foo/stable 1.1.0 replaces 1.0.0', 'foo/stable 1.0.0'])
const catalogUnderTest = {
  catalog: assembleCatalogFromBlobs(catalogBlobs),
  package: 'foo',
  channel: 'stable',
  head: 'foo.v1.1.0',
}
const catalogServerResponse = simulateCatalogServerResponse(
  buildServedCatalog([
    {
      path: 'a.json',
      file: parseServedCatalogFile(
        new TextEncoder().encode(catalogBlobs.map((blob) => JSON.stringify(blob)).join('\n')),
      ),
    },
  ]),
  'foo',
)
if (catalogServerResponse.kind !== 'answered') throw new Error(catalogServerResponse.reason)

const evaluateCatalogServers = (...servers: readonly CatalogServerResponse[]) =>
  createCatalogServerStep({ responses: servers, images: [] }, catalogUnderTest)

describe('the step for a running catalog', () => {
  test('passes if its server returns the package with its channels and bundles', () => {
    expect(evaluateCatalogServers(catalogServerResponse)).toMatchObject({ outcome: 'passed', remarks: [] })
  })

  test.each<[string, Partial<typeof catalogServerResponse>]>([
    ['lacks the package', { packages: [] }],
    ['has another default channel', { defaultChannel: 'fast' }],
    ['has another head', { channels: [{ name: 'stable', head: 'foo.v1.0.0' }] }],
    ['lacks the channel', { channels: [] }],
    ['lacks a bundle', { bundles: catalogServerResponse.bundles.slice(1) }],
    ['rejects a call', { errors: ['no bundle'] }],
  ])('fails if the server %s', (_which, differences) => {
    expect(evaluateCatalogServers({ ...catalogServerResponse, ...differences })).toMatchObject({
      outcome: 'failed',
    })
  })

  test('fails if a server rejects the catalog, and is unknown if a server is unavailable', () => {
    expect(evaluateCatalogServers({ server: 'opm', kind: 'refused', reason: 'bad' }).outcome).toBe('failed')
    expect(
      evaluateCatalogServers(catalogServerResponse, { server: 'opm', kind: 'unknown', reason: 'not there' })
        .outcome,
    ).toBe('unknown')
  })

  test('is left out if no server was queried', () => {
    expect(createCatalogServerStep(undefined, catalogUnderTest).outcome).toBe('left out')
  })
})

describe('a catalog image', () => {
  const image: CatalogServerImageConfig = {
    reference: 'registry.example/catalog:1',
    directory: 'configs',
    entrypoint: ['/bin/opm'],
    command: ['serve', '/configs', '--cache-dir=/tmp/cache'],
    user: '1001',
    platform: 'linux/amd64',
  }
  test.each<[string, Partial<CatalogServerImageConfig>]>([
    ['passed', {}],
    ['failed', { directory: undefined }],
    ['failed', { command: ['render', '/configs'] }],
    ['failed', { command: ['serve', '/other'] }],
    ['warning', { user: '0' }],
    ['warning', { entrypoint: ['/bin/sh'] }],
  ])('%s: %j', (outcome, differences) => {
    const images = [{ ...image, ...differences }]
    expect(
      createCatalogServerStep({ responses: [catalogServerResponse], images }, catalogUnderTest).outcome,
    ).toBe(outcome)
  })
})

describe('a bundle in the catalog', () => {
  const [blob] = catalogUnderTest.catalog.bundles
  if (!blob) throw new Error('no bundle')
  const inline = { ...blob, properties: [{ mark: blob.place, type: 'olm.bundle.object', value: null }] }
  const csv = JSON.stringify({ kind: 'ClusterServiceVersion' })

  test('is read if its objects include a ClusterServiceVersion', () => {
    const files = readInlineBundle(catalogUnderTest.catalog, inline, [csv, '{"kind":"Service"}'])
    expect([...(files?.keys() ?? [])]).toEqual([
      'manifests/object-1.json',
      'manifests/object-2.json',
      'metadata/annotations.yaml',
    ])
  })

  test('is not read from olm.csv.metadata, objects without a ClusterServiceVersion, or invalid JSON', () => {
    expect(hasBundleObjectProperties(blob)).toBe(false)
    expect(readInlineBundle(catalogUnderTest.catalog, blob, [csv])).toBeUndefined()
    expect(readInlineBundle(catalogUnderTest.catalog, inline, ['{"kind":"Service"}'])).toBeUndefined()
    expect(readInlineBundle(catalogUnderTest.catalog, inline, [csv, '{'])).toBeUndefined()
  })
})
