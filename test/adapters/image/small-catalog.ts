// A catalog of one package with two bundles, as files.
import type { CatalogImageFile } from '../../../src/adapters/image/catalog-publisher.ts'

export function createSmallCatalog({ description = 'A package' } = {}): readonly CatalogImageFile[] {
  const bundle = (version: string) => `---
schema: olm.bundle
name: foo.v${version}
package: foo
image: quay.io/org/foo:v${version}
properties:
- type: olm.package
  value: {packageName: foo, version: ${version}}
- type: olm.gvk
  value: {group: example.com, kind: Foo, version: v1}
- type: olm.csv.metadata
  value:
    annotations: {capabilities: Basic Install}
    apiServiceDefinitions: {}
    crdDescriptions:
      owned:
      - {name: foos.example.com, version: v1, kind: Foo}
    displayName: Foo <operator>
    provider: {name: Org}
relatedImages:
- name: ''
  image: quay.io/org/foo:v${version}
`
  const text = `---
schema: olm.package
name: foo
defaultChannel: stable
description: ${description}
---
schema: olm.channel
package: foo
name: stable
entries:
- name: foo.v1.0.0
- name: foo.v1.1.0
  replaces: foo.v1.0.0
${bundle('1.0.0')}${bundle('1.1.0')}`
  return [
    { path: '.indexignore', bytes: new TextEncoder().encode('*.md\n') },
    { path: 'foo/catalog.yaml', bytes: new TextEncoder().encode(text) },
    { path: 'foo/readme.md', bytes: new TextEncoder().encode('# Not a catalog\n') },
  ]
}
