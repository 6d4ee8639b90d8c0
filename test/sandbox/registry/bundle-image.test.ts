// The images of the demo contain real bundles, which render to the blobs in the catalogs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readRegistryBundle } from '../../../packages/bundle/src/registry-bundle.ts'
import { renderBundle } from '../../../packages/bundle/src/render/render-bundle.ts'
import { validateBundle } from '../../../packages/bundle/src/validate-bundle.ts'
import {
  parseOlmBundleBlobs,
  buildBundleImage,
  type OlmBundleBlob,
} from '../../../sandbox/registry/bundle-image.ts'
import { buildImage } from '../../../sandbox/registry/registry-image.ts'

const catalogsDirectory = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'fixtures',
  'demo',
  'repository',
  'catalogs',
)
const catalogPaths = readdirSync(catalogsDirectory, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.yaml'),
)
const buildBundleImageFiles = (blob: OlmBundleBlob) =>
  new Map(
    Object.entries(buildBundleImage(blob).files ?? {}).map(([path, content]) => [path, Buffer.from(content)]),
  )
function renderBundleImage(blob: OlmBundleBlob) {
  const { bundle, problem } = readRegistryBundle(buildBundleImageFiles(blob))
  if (!bundle) throw new Error(problem)
  return renderBundle(bundle, blob.image, { csvMetadata: true })
}
/** Keys are sorted in catalogs, and opm sorts lists by their text. */
const toSortedJsonStrings = (list: readonly object[] = []) =>
  list.map((item) => JSON.stringify(item, sortObjectKeys)).sort()

describe('a bundle image built from its blob', () => {
  const blobs = catalogPaths.flatMap((path) =>
    parseOlmBundleBlobs(readFileSync(join(catalogsDirectory, path), 'utf8')).map(
      (blob) => [path, blob.name, blob] as const,
    ),
  )
  test.each(blobs)('%s, %s: is valid, and renders to the same blob', (_path, _name, blob) => {
    expect(validateBundle(buildBundleImageFiles(blob)).findings).toEqual([])
    const again = renderBundleImage(blob)
    expect(toSortedJsonStrings(again.properties)).toEqual(toSortedJsonStrings(blob.properties))
    expect(toSortedJsonStrings(again.relatedImages)).toEqual(toSortedJsonStrings(blob.relatedImages))
    expect([again.name, again.package]).toEqual([blob.name, blob.package])
  })

  const rich: OlmBundleBlob = {
    name: 'pier-v2.0.0-3',
    package: 'pier',
    image: 'registry.example/pier/bundle:v2.0.0',
    properties: [
      { type: 'olm.package', value: { packageName: 'pier', version: '2.0.0', release: '3' } },
      { type: 'olm.gvk', value: { group: 'pier.example.com', kind: 'Pier', version: 'v1' } },
      { type: 'olm.gvk', value: { group: 'pier.example.com', kind: 'Pier', version: 'v1beta1' } },
      { type: 'olm.gvk.required', value: { group: 'buoy.example.com', kind: 'Buoy', version: 'v1' } },
      { type: 'olm.package.required', value: { packageName: 'buoy', versionRange: '>=3.0.0' } },
      { type: 'olm.maxOpenShiftVersion', value: '4.21' },
    ],
  }
  test('keeps versions, requirements, and properties of any type', () => {
    const { properties } = renderBundleImage(rich)
    expect(toSortedJsonStrings(properties.filter(({ type }) => type !== 'olm.csv.metadata'))).toEqual(
      toSortedJsonStrings(rich.properties),
    )
    expect(validateBundle(buildBundleImageFiles(rich)).findings).toEqual([])
  })
  test('has the same digest each time, and another one for another version', () => {
    const digest = (blob: OlmBundleBlob) => buildImage(buildBundleImage(blob)).top.digest
    expect(digest(rich)).toBe(digest(structuredClone(rich)))
    expect(digest(rich)).not.toBe(digest({ ...rich, name: 'pier.v2.0.1' }))
  })
})

function sortObjectKeys(_key: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
}
