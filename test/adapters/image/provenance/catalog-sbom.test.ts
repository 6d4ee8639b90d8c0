// The software bill of materials (CycloneDX) of a catalog image.
import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { createImageSbom } from '../../../../src/adapters/image/provenance/provenance-artifacts.ts'
import { listCatalogBundles } from '../../../../src/adapters/image/catalog-publisher.ts'

const createFakeDigest = (letter: string) => `sha256:${letter.repeat(64)}`
const operandImage = `registry.example.com:5000/org/operand@${createFakeDigest('a')}`
const createBundleYaml = (name: string, version: string) => `---
schema: olm.bundle
package: lantern
name: ${name}
image: quay.io/org/bundle:${version}
properties:
- {type: olm.package, value: {packageName: lantern, version: ${version}}}
relatedImages:
- {name: operand, image: "${operandImage}"}
- {name: "", image: "quay.io/org/bundle:${version}"}
`
const createSbom = (...files: readonly string[]): unknown => {
  const read = files.map((text, at) => ({ path: `${at}.yaml`, facts: parseCatalogFile(Buffer.from(text)) }))
  const bytes = createImageSbom(
    { repository: 'quay.io/org/catalog', digest: createFakeDigest('c') },
    listCatalogBundles(assembleCatalog(read)),
    '1.0.0',
  )
  return JSON.parse(Buffer.from(bytes).toString())
}
const older = createBundleYaml('lantern.v1.0.0', '1.0.0')
const newer = createBundleYaml('lantern.v1.1.0', '1.1.0')

describe('the bill of materials of a catalog image', () => {
  test('lists each bundle with its version, and each image once, with its package URL and digest', () => {
    expect(createSbom(older, newer)).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: {
        component: {
          type: 'container',
          purl: `pkg:oci/catalog@sha256%3A${'c'.repeat(64)}?repository_url=quay.io/org/catalog`,
        },
      },
      components: [
        { type: 'application', 'bom-ref': 'bundle:lantern/lantern.v1.0.0', version: '1.0.0' },
        { type: 'application', 'bom-ref': 'bundle:lantern/lantern.v1.1.0', version: '1.1.0' },
        { purl: 'pkg:oci/bundle?repository_url=quay.io/org/bundle&tag=1.0.0', version: '1.0.0' },
        { purl: 'pkg:oci/bundle?repository_url=quay.io/org/bundle&tag=1.1.0' },
        {
          'bom-ref': operandImage,
          name: 'registry.example.com:5000/org/operand',
          version: createFakeDigest('a'),
          hashes: [{ alg: 'SHA-256', content: 'a'.repeat(64) }],
          purl: `pkg:oci/operand@sha256%3A${'a'.repeat(64)}?repository_url=registry.example.com:5000/org/operand`,
        },
      ],
    })
  })
  test('lists the images of each bundle, and every reference belongs to a component', () => {
    const { metadata, components, dependencies } = createSbom(older, newer) as {
      metadata: { component: { 'bom-ref': string } }
      components: { 'bom-ref': string }[]
      dependencies: { ref: string; dependsOn: string[] }[]
    }
    expect(dependencies).toEqual([
      {
        ref: metadata.component['bom-ref'],
        dependsOn: ['bundle:lantern/lantern.v1.0.0', 'bundle:lantern/lantern.v1.1.0'],
      },
      { ref: 'bundle:lantern/lantern.v1.0.0', dependsOn: ['quay.io/org/bundle:1.0.0', operandImage] },
      { ref: 'bundle:lantern/lantern.v1.1.0', dependsOn: ['quay.io/org/bundle:1.1.0', operandImage] },
    ])
    const references = components.map((component) => component['bom-ref'])
    expect(new Set(references).size).toBe(references.length)
    expect(references).toEqual(expect.arrayContaining(dependencies.flatMap(({ dependsOn }) => dependsOn)))
  })
  test('does not depend on the order of the files', () => {
    expect(createSbom(newer, older)).toEqual(createSbom(older, newer))
  })
})
