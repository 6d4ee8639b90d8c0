// A repository with catalogs built from bundles: the package foo with one bundle, a basic template, and two catalogs.
import { readRegistryBundle } from '../../../packages/bundle/src/registry-bundle.ts'
import { renderBundle, type ComparableBundle } from '../../../packages/bundle/src/render/render-bundle.ts'
import { createBundleDirectoryFiles, type FileTree } from '../../checks/bundles/bundle-trees.ts'

export const createFakeDigest = (letter: string) => `sha256:${letter.repeat(64)}`
const publishedImageReference = `quay.io/foo/foo@${createFakeDigest('a')}`

const createBundleYaml = (version: string) => `---
image: ${publishedImageReference}
name: foo.v${version}
package: foo
properties:
- type: olm.package
  value:
    packageName: foo
    version: ${version}
relatedImages:
- image: ${publishedImageReference}
  name: ""
schema: olm.bundle
`
/** In the format of opm. */
export const catalogYaml = `---
defaultChannel: stable
name: foo
schema: olm.package
---
entries:
- name: foo.v1.0.0
name: stable
package: foo
schema: olm.channel
${createBundleYaml('1.0.0')}`

export const templateYaml = `# Kept by people.
schema: olm.template.basic
entries:
  - schema: olm.package
    name: foo
    defaultChannel: "stable"
  - schema: olm.channel
    package: foo
    name: stable
    entries:
      - name: foo.v1.0.0 # the first
  # Images.
  - schema: olm.bundle
    image: ${publishedImageReference}
`
export const templatePath = 'operators/foo/catalog-templates/basic.yaml'

/** At the base. */
export const releaseRepositoryFiles: FileTree = {
  'operators/foo/ci.yaml': `reviewers: [alice]
fbc:
  enabled: true
  catalog_mapping:
    - template_name: basic.yaml
      type: olm.template.basic
      catalog_names: [v4.19, v4.20]
`,
  [templatePath]: templateYaml,
  'catalogs/v4.19/foo/catalog.yaml': catalogYaml,
  'catalogs/v4.20/foo/catalog.yaml': catalogYaml,
  ...createBundleDirectoryFiles('1.0.0'),
}

/** A bundle directory with a release configuration. */
export function createReleasableBundleFiles(version: string, replaces = 'foo.v1.0.0', more = ''): FileTree {
  return {
    ...createBundleDirectoryFiles(version),
    [`operators/foo/${version}/release-config.yaml`]: `${more}catalog_templates:
  - template_name: basic.yaml
    channels: [stable]
    replaces: ${replaces}
`,
  }
}

/** The content of an image that was built from a bundle directory. */
export function createBundleImageContent(
  version: string,
  files: FileTree = createBundleDirectoryFiles(version),
): ComparableBundle {
  const root = `operators/foo/${version}/`
  const inside = new Map(
    Object.entries(files)
      .filter(([path]) => path.startsWith(root) && !path.endsWith('release-config.yaml'))
      .map(([path, text]) => [path.slice(root.length), new TextEncoder().encode(text)]),
  )
  const { bundle: read } = readRegistryBundle(inside)
  if (!read) throw new Error('it is no bundle')
  const own = 'quay.io/foo/foo:x'
  const { name = '', package: its = '', properties = [], relatedImages = [] } = renderBundle(read, own)
  // The content as read from the registry, without the image of the bundle.
  return { name, package: its, properties, relatedImages: relatedImages.filter(({ image }) => image !== own) }
}
