// Generates a catalog repository of any size, for machines that have no real one: generated catalogs, and the small
// package that a benchmark updates. Usage: see bench/pull.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generateCatalog } from './generated-catalog.ts'

/** Writes `catalogs/NAME` of approximately this size for each name, and `operators/kube-green/ci.yaml`. */
export function generateRepository(
  directory: string,
  { catalogs, megabytes }: { readonly catalogs: readonly string[]; readonly megabytes: number },
): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  for (const name of catalogs) {
    generateCatalog(join(directory, 'catalogs', name), megabytes)
    write(`catalogs/${name}/kube-green/catalog.yaml`, smallPackageCatalogYaml)
  }
  write('operators/kube-green/ci.yaml', 'updateGraph: replaces-mode\nreviewers:\n  - davidebianchi\n')
}

const smallPackageCatalogYaml = `---
defaultChannel: alpha
name: kube-green
schema: olm.package
---
entries:
- name: kube-green.v0.7.1
name: alpha
package: kube-green
schema: olm.channel
---
image: quay.io/community/kube-green:v0.7.1
name: kube-green.v0.7.1
package: kube-green
properties:
- type: olm.package
  value:
    packageName: kube-green
    version: 0.7.1
relatedImages:
- image: quay.io/community/kube-green:v0.7.1
  name: ''
schema: olm.bundle
`
