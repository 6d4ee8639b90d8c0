// A catalog with all content that opm's server converts to another form. opm accepts it as valid.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')

const csvManifestJson = JSON.stringify({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'ClusterServiceVersion',
  metadata: { name: 'manifests.v1.0.0' },
  spec: { description: '<b>&amp;</b> \u2028', version: '1.0.0' },
})

const packagesYaml = `---
schema: olm.package
name: metadata
defaultChannel: stable
description: "The package's <own> words & more \\u2028"
icon: {base64data: PHN2Zy8+, mediatype: image/svg+xml}
---
schema: olm.package
name: manifests
defaultChannel: beta
icon: {}
---
schema: olm.package
name: iconless
defaultChannel: only
icon: null
---
schema: olm.package
name: emptied
defaultChannel: only
icon: {base64data: "", mediatype: ""}
`

const metadataPackageYaml = `---
schema: olm.channel
package: metadata
name: stable
entries:
- name: metadata.v1.0.0
  skips: []
- name: metadata.v1.1.0
  replaces: metadata.v1.0.0
  skips: [metadata.v1.0.0, metadata.v0.9.0, metadata.v0.9.0]
  skipRange: ">=0.1.0 <1.1.0"
---
schema: olm.channel
package: metadata
name: Fast_2
entries:
- {name: metadata.v1.1.0, replaces: gone.v0.1.0}
---
schema: olm.deprecations
package: metadata
entries:
- {reference: {schema: olm.package}, message: "the package <is> old"}
- {reference: {schema: olm.channel, name: Fast_2}, message: the channel is old}
- {reference: {schema: olm.bundle, name: metadata.v1.0.0}, message: the bundle is old}
---
schema: olm.bundle
package: metadata
name: metadata.v1.0.0
image: quay.io/example/metadata:v1.0.0
relatedImages:
- {name: "", image: quay.io/example/metadata:v1.0.0}
- {name: operand, image: "quay.io/example/operand@sha256:${'a'.repeat(64)}"}
properties:
- {type: olm.package, value: {packageName: metadata, version: 1.0.0}}
- {type: olm.gvk, value: {group: example.com, kind: Thing, version: v1}}
- {type: olm.gvk, value: {VERSION: v1, Group: example.com, kind: Other, more: 1}}
- {type: olm.gvk.required, value: {version: v1, kind: Needed, group: "<example>.com"}}
- {type: olm.package.required, value: {packageName: manifests, versionRange: ">=1.0.0 <2.0.0"}}
- {type: olm.constraint, value: {failureMessage: "no & no", cel: {rule: 'properties.exists(p, p.type == "certified")'}}}
- {type: custom.numbers, value: [1, 1.0, 1e21, 1e-7, 12345678901234567890, -0.0, true, null, "<&>", {"10": a, "9": b, a: {}}]}
- type: olm.csv.metadata
  value:
    annotations: {"10": ten, "9": nine, b: "<html> & \\u2028 \\u0007", empty: "", nothing: null}
    apiServiceDefinitions:
      owned:
      - {name: a, group: g, version: v1, kind: K, deploymentName: d, containerPort: 443, displayName: A}
      - {kind: K2, containerPort: 0}
      required: []
    crdDescriptions:
      owned:
      - name: things.example.com
        version: v1
        kind: Thing
        displayName: A thing
        description: "It <does> things"
        resources:
        - {kind: Pod, name: "", version: v1}
        - {}
        statusDescriptors:
        - {path: a.b, displayName: d, x-descriptors: ["urn:x", null], value: {b: 1, a: "<"}}
        - {path: none, value: null}
        specDescriptors: [{path: c}]
        actionDescriptors: [{path: "", description: e}]
      - null
      required:
      - {name: needed, version: v1, kind: Needed}
    displayName: ""
    installModes:
    - {type: OwnNamespace, supported: true}
    - {type: AllNamespaces}
    keywords: [one, "", null]
    labels: {"operatorframework.io/arch.amd64": supported}
    links: [{name: home, url: "https://example.com/?a=1&b=2"}, {}]
    maintainers: [{name: Someone, email: e@example.com}, {email: ""}]
    maturity: alpha
    minKubeVersion: 1.20.0
    nativeAPIs: [{group: "", version: v1, kind: Pod}]
    provider: {name: Example}
---
schema: olm.bundle
package: metadata
name: metadata.v1.1.0
image: quay.io/example/metadata:v1.1.0
properties:
- {type: olm.package, value: {packageName: metadata, version: 1.1.0-rc.1+build.5}}
- {type: olm.gvk, value: {group: example.com, kind: Thing, version: v1}}
- {type: olm.csv.metadata, value: {description: Its own words}}
`

const manifestsPackageJson = `{"schema":"olm.channel","package":"manifests","name":"beta","entries":[{"name":"manifests.v1.0.0","skips":null}]}
{"schema":"olm.bundle","package":"manifests","name":"manifests.v1.0.0","image":"","properties":[
 {"type":"olm.package","value":{"packageName":"manifests","version":"1.0.0"}},
 {"type":"olm.gvk","value":{"group":"example.com","kind":"Thing","version":"v1"}},
 {"type":"olm.bundle.object","value":{"data":"${toBase64('kind: Service\nmetadata: {name: "<s>"}\nspec:\n  ports: [8080, 1.50, 0x1F]\n')}"}},
 {"type":"olm.bundle.object","value":{"data":"${toBase64(`  ${csvManifestJson}\n`)}"}},
 {"type":"olm.bundle.object","value":{}},
 {"type":"olm.bundle.object","value":{"data":"${toBase64('{kind: ConfigMap, data: {a: b}}')}"}},
 {"type":"olm.bundle.object","value":{"data":""}}
]}
{"schema":"example.com.custom","package":"manifests","name":"c","nested":{"list":[1,"two",null,true,{"a":1.5}]}}
{"schema":"example.com.custom","package":"manifests","name":"c","nested":{"list":[]}}
{"schema":"example.com.custom","name":"without a package"}
`

const emptyMetadataPackagesYaml = `---
schema: olm.channel
package: iconless
name: only
entries: [{name: iconless.v1.0.0}]
---
schema: olm.bundle
package: iconless
name: iconless.v1.0.0
image: quay.io/example/iconless:v1.0.0
properties:
- {type: olm.package, value: {packageName: iconless, version: 1.0.0}}
- {type: olm.csv.metadata, value: {}}
- type: olm.bundle.object
  value: {data: ${toBase64('{"kind":"Secret","metadata":{"name":"s"}}')}}
---
schema: olm.channel
package: emptied
name: only
entries: [{name: emptied.v1.0.0}]
---
schema: olm.bundle
package: emptied
name: emptied.v1.0.0
image: quay.io/example/emptied:v1.0.0
properties:
- {type: olm.package, value: {packageName: emptied, version: 1.0.0}}
- {type: olm.csv.metadata, value: {crdDescriptions: {owned: null}, provider: null, annotations: null}}
- type: olm.bundle.object
  value: {data: ${toBase64('{kind: ClusterServiceVersion, metadata: {name: flow}}')}}
`

/** Its files by path. */
export const unusualCatalog: Readonly<Record<string, string>> = {
  'packages.yaml': packagesYaml,
  'sub/metadata.yaml': metadataPackageYaml,
  'sub/manifests.json': manifestsPackageJson,
  'z.yml': emptyMetadataPackagesYaml,
}

/** Writes it below `dir`. */
export function writeUnusualCatalog(dir: string): void {
  mkdirSync(join(dir, 'sub'), { recursive: true })
  for (const [path, text] of Object.entries(unusualCatalog)) writeFileSync(join(dir, path), text)
}
