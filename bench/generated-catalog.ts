// Generates valid catalogs of any size in opm's format, for measuring how time and memory grow. The same size always
// gives the same catalog. Usage: node bench/generated-catalog.ts DIR MEGABYTES
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const bundlesPerPackage = 40

/**
 * Writes packages, one folder each, until they reach approximately this size. Returns the number of bytes written.
 */
export function generateCatalog(directory: string, megabytes: number): number {
  let written = 0
  for (let index = 0; written < megabytes * 1e6; index++) {
    const name = `operator-${index}`
    const text = renderPackage(name)
    mkdirSync(join(directory, name), { recursive: true })
    writeFileSync(join(directory, name, 'catalog.yaml'), text)
    written += Buffer.byteLength(text)
  }
  return written
}

function renderPackage(name: string): string {
  const versions = Array.from({ length: bundlesPerPackage }, (_, minor) => `1.${minor}.0`)
  const icon = Buffer.from(`<svg>${name.repeat(300)}</svg>`).toString('base64')
  const head = `---
defaultChannel: stable
icon:
  base64data: ${icon}
  mediatype: image/svg+xml
name: ${name}
schema: olm.package
---
entries:
${versions.map((version, at) => renderChannelEntry(name, version, versions[at - 1])).join('')}name: stable
package: ${name}
schema: olm.channel
`
  return head + versions.map((version) => renderBundle(name, version)).join('')
}

function renderChannelEntry(name: string, version: string, before: string | undefined): string {
  const edge =
    before === undefined ? '' : `  replaces: ${name}.v${before}\n  skipRange: '>=1.0.0 <${version}'\n`
  return `- name: ${name}.v${version}\n${edge}`
}

function renderBundle(name: string, version: string): string {
  const digest = Buffer.from(`${name}${version}`).toString('hex').padEnd(64, '0').slice(0, 64)
  const example = Array.from({ length: 60 }, (_, at) => `          "field${at}": "a value of ${name}, ${at}"`)
  const descriptors = Array.from(
    { length: 40 },
    (
      _,
      at,
    ) => `        - description: What the operator does with field ${at}, in a sentence that is long enough
            to be folded
          displayName: Field ${at}
          path: spec.field${at}
          x-descriptors:
          - urn:alm:descriptor:com.tectonic.ui:text
`,
  )
  const description = Array.from(
    { length: 40 },
    (_, at) => `      Paragraph ${at} of the description of ${name}.\n\n`,
  )
  const images = Array.from(
    { length: 12 },
    (_, at) => `- image: quay.io/${name}/part-${at}@sha256:${digest}\n  name: part-${at}\n`,
  )
  return `---
image: quay.io/${name}/bundle@sha256:${digest}
name: ${name}.v${version}
package: ${name}
properties:
- type: olm.gvk
  value:
    group: ${name}.example.com
    kind: Thing
    version: v1
- type: olm.package
  value:
    packageName: ${name}
    version: ${version}
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |-
        [
          {
            "apiVersion": "${name}.example.com/v1",
${example.join(',\n')}
          }
        ]
      capabilities: Full Lifecycle
      containerImage: quay.io/${name}/manager:v${version}
      createdAt: "2024-01-01T00:00:00Z"
    apiServiceDefinitions: {}
    crdDescriptions:
      owned:
      - description: Thing is what ${name} manages
        displayName: Thing
        kind: Thing
        name: things.${name}.example.com
        specDescriptors:
${descriptors.join('')}        version: v1
    description: |-
${description.join('').trimEnd()}
    displayName: ${name}
    installModes:
    - supported: true
      type: AllNamespaces
    keywords:
    - example
    maturity: stable
    provider:
      name: Example
relatedImages:
${images.join('')}schema: olm.bundle
`
}

if (import.meta.main) {
  const [directory, megabytes] = process.argv.slice(2)
  if (directory === undefined || !(Number(megabytes) > 0)) {
    console.error('usage: node bench/generated-catalog.ts DIR MEGABYTES')
    process.exit(2)
  }
  console.log(`${generateCatalog(directory, Number(megabytes))} bytes`)
}
