// Reduced versions of harmless changes from merged pull requests of real repositories: the replay blocks none of them.
// It blocks each harmful change, and reports the count in its last lines.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { createOriginRepository, createTemporaryDirectory, type OriginFiles } from '../adapters/git/origin.ts'

const projectRoot = join(import.meta.dirname, '../..')
const temporaryDirectory = createTemporaryDirectory('replay-blocked')
const origin = createOriginRepository(temporaryDirectory.path)
afterAll(() => temporaryDirectory.remove())

interface BundleDirectoryOptions {
  readonly directory?: string
  readonly version?: string
  readonly name?: string
  readonly packageName?: string
  readonly spec?: string
  readonly more?: OriginFiles
}

/** The files of a bundle directory. */
function createBundleDirectory(
  bundlePath: string,
  {
    version = bundlePath.split('/')[1] ?? '',
    packageName = bundlePath.split('/')[0] ?? '',
    ...more
  }: BundleDirectoryOptions = {},
): OriginFiles {
  const at = `operators/${bundlePath}`
  return {
    [`${at}/manifests/its.clusterserviceversion.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: ${more.name ?? `${packageName}.v${version}`}}
spec:
  version: ${version}
  displayName: its
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
${more.spec ?? ''}`,
    [`${at}/metadata/annotations.yaml`]: `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: ${packageName}
  operators.operatorframework.io.bundle.channels.v1: stable
`,
    ...more.more,
  }
}

const imageDigest = `sha256:${'a'.repeat(64)}`
const createChannelYaml = (name: string, entries: string) =>
  `---\nschema: olm.channel\npackage: harbor\nname: ${name}\nentries: [${entries}]\n`
const createBundleYaml = (version: string, image = imageDigest) => `---
schema: olm.bundle
name: harbor.v${version}
package: harbor
image: quay.io/harbor/harbor@${image}
properties: [{type: olm.package, value: {packageName: harbor, version: ${version}}}]
`
const harborCatalogPath = 'catalogs/v4.20/harbor/catalog.yaml'
const createCatalogYaml = (...blobs: string[]) =>
  `schema: olm.package\nname: harbor\ndefaultChannel: stable\n${blobs.join('')}`
const firstReleaseBlobs = [createChannelYaml('stable', '{name: harbor.v1.0.0}'), createBundleYaml('1.0.0')]

const catalogMappingYaml = `fbc:
  enabled: true
  catalog_mapping: [{template_name: t.yaml, type: olm.template.basic, catalog_names: [v4.20]}]
`
const createReleaseConfigFiles = (template: string, replaces: string): OriginFiles => ({
  'operators/harbor/1.1.0/release-config.yaml': `catalog_templates:\n  - {template_name: ${template}, channels: [stable]${replaces}}\n`,
})
const crdFiles: OriginFiles = {
  'operators/plain/1.1.0/manifests/crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plains.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Plain, plural: plains, singular: plain, listKind: PlainList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
}
const serviceAccountFiles: OriginFiles = {
  'operators/plain/1.1.0/manifests/account.yaml':
    'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, namespace: elsewhere}\n',
}
const createOwnedCrdYaml = (group: string) =>
  `  customresourcedefinitions: {owned: [{name: plains.example.com, version: v1, kind: Plain${group}, description: A.}]}\n`

const baseBranchFiles: OriginFiles = {
  '.github/workflows/build.yml': 'on: push\n',
  'operators/harbor/ci.yaml': catalogMappingYaml,
  'operators/harbor/catalog-templates/t.yaml': `schema: olm.template.basic
entries:
- {schema: olm.package, name: harbor, defaultChannel: stable}
- {schema: olm.channel, package: harbor, name: stable, entries: [{name: harbor.v1.0.0}]}
- {schema: olm.bundle, image: 'quay.io/harbor/harbor@${imageDigest}'}
`,
  [harborCatalogPath]: createCatalogYaml(
    ...firstReleaseBlobs,
    createChannelYaml('old', '{name: harbor.v1.0.0}'),
  ),
  ...createBundleDirectory('harbor/1.0.0'),
  'operators/plain/ci.yaml': 'updateGraph: replaces-mode\n',
  ...createBundleDirectory('plain/1.0.0'),
  'operators/sorted/ci.yaml': 'updateGraph: semver-mode\n',
  ...createBundleDirectory('sorted/1.0.0'),
}
const replacesFieldYamlLine = '  replaces: plain.v1.0.0\n'

/** Added, edited, and removed files. */
type ChangedFiles = Readonly<Record<string, OriginFiles[string] | undefined>>

function applyToBaseBranch(change: ChangedFiles): OriginFiles {
  const files: Record<string, OriginFiles[string]> = {}
  for (const [path, file] of Object.entries({ ...baseBranchFiles, ...change }))
    if (file !== undefined) files[path] = file
  return files
}

/** The replay's reports on pull requests, each of which was merged onto the same files. */
function replayPulls(changes: readonly ChangedFiles[], ...more: string[]) {
  let tip = origin.commit(baseBranchFiles)
  const mergedChanges = new Map<string, ChangedFiles>()
  for (const change of changes) {
    const merged = origin.commit(applyToBaseBranch(change), [tip])
    mergedChanges.set(merged, change)
    // The merge of a pull request that adds a page restores the files for the next one.
    const page = origin.commit({ ...baseBranchFiles, 'README.md': '' }, [tip])
    tip = origin.commit(baseBranchFiles, [merged, page])
  }
  origin.branch('main', tip)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', 'scripts/replay.ts', '--mirror', origin.directory, '--branch', 'main', ...more],
    { cwd: projectRoot, encoding: 'utf8' },
  )
  const pulls = new Map(
    stdout.split('\n').map((line) => {
      const pull = JSON.parse(line || '{}') as Record<string, unknown>
      return [mergedChanges.get(String(pull['commit'])), pull]
    }),
  )
  return { status, pulls, stderr }
}

const harmlessChanges: readonly [string, string, ChangedFiles][] = [
  [
    'group-in-owned-crd',
    'the group beside the name of an owned CRD',
    {
      ...createBundleDirectory('plain/1.1.0', {
        spec: replacesFieldYamlLine + createOwnedCrdYaml(', group: example.com'),
      }),
      ...crdFiles,
    },
  ],
  [
    'bundle-directory-of-other-version',
    'a directory whose name begins with v',
    createBundleDirectory('plain/v1.1.0', { version: '1.1.0', spec: replacesFieldYamlLine }),
  ],
  [
    'bundle-directory-unconnected',
    'a bundle without a way from those before it',
    createBundleDirectory('plain/1.1.0'),
  ],
  [
    'bundle-directory-edge-to-nowhere',
    'a bundle that replaces one that other histories have',
    createBundleDirectory('plain/1.1.0', { spec: '  replaces: plain.v0.9.0\n' }),
  ],
  [
    'removed-bundle-in-use',
    'a bundle that is removed below another',
    {
      ...createBundleDirectory('plain/1.0.1', { spec: replacesFieldYamlLine }),
      ...Object.fromEntries(
        Object.keys(createBundleDirectory('plain/1.0.0')).map((path) => [path, undefined]),
      ),
    },
  ],
  [
    'release-config-mismatch',
    'a template that ci.yaml does not map',
    { ...createBundleDirectory('harbor/1.1.0'), ...createReleaseConfigFiles('other.yaml', '') },
  ],
  [
    'several-heads',
    'a release that leaves two heads',
    { ...createBundleDirectory('harbor/1.1.0'), ...createReleaseConfigFiles('t.yaml', '') },
  ],
  [
    'bundle-directory-name-taken',
    'two directories of one name beside templates',
    createBundleDirectory('harbor/1.1.0', { name: 'harbor.v1.0.0' }),
  ],
  [
    'malformed-package-settings',
    'a template that its first release makes',
    { 'operators/harbor/ci.yaml': catalogMappingYaml.replaceAll('t.yaml', 'new.yaml') },
  ],
  [
    'unreadable-bundle',
    'manifests beside metadata',
    {
      'operators/plain/1.1.0/metadata/annotations.yaml':
        createBundleDirectory('plain/1.1.0')['operators/plain/1.1.0/metadata/annotations.yaml'] ?? '',
    },
  ],
  [
    'channel-removed',
    'a channel that a maintainer is asked about',
    { [harborCatalogPath]: createCatalogYaml(...firstReleaseBlobs) },
  ],
  [
    'broken-object-metadata',
    'a namespace that OLM replaces',
    { ...createBundleDirectory('plain/1.1.0', { spec: replacesFieldYamlLine }), ...serviceAccountFiles },
  ],
  [
    'unparsable-min-kube-version',
    'a v that OLM ignores',
    createBundleDirectory('plain/1.1.0', { spec: `${replacesFieldYamlLine}  minKubeVersion: v1.25.0\n` }),
  ],
  [
    'broken-examples',
    'examples that are not JSON',
    Object.fromEntries(
      Object.entries(createBundleDirectory('plain/1.1.0', { spec: replacesFieldYamlLine })).map(
        ([path, text]) => [
          path,
          (text as string).replace('metadata: {', "metadata: {annotations: {alm-examples: '[{'}, "),
        ],
      ),
    ),
  ],
  [
    'workflow-edit-in-history',
    'workflows that the pull request shows',
    { '.github/workflows/build.yml': 'on: [push]\n' },
  ],
]
const ignoredReplacesInSemverMode = createBundleDirectory('sorted/1.1.0', {
  spec: '  replaces: other.v1.0.0\n',
})

describe('harmless changes', () => {
  const { pulls, status, stderr } = replayPulls(
    [...harmlessChanges.map(([, , change]) => change), ignoredReplacesInSemverMode],
    '--max-blocked',
    '0',
  )

  test.each(harmlessChanges)('%s blocks nothing: %s', (rule, _what, change) => {
    expect(pulls.get(change)).toMatchObject({ rules: [], warnings: expect.arrayContaining([rule]) })
    expect(pulls.get(change)?.['decision']).not.toBe('blocked')
  })

  test('in semver-mode `replaces` of a bundle is ignored', () => {
    expect(pulls.get(ignoredReplacesInSemverMode)).toMatchObject({
      rules: [],
      warnings: expect.not.arrayContaining(['bundle-directory-edge-to-nowhere']),
    })
  })

  test('let the replay exit with 0', () => {
    expect(stderr).toContain('\nwould have blocked 0 of 32 evaluated pull requests (0.0 %)\n')
    expect(status).toBe(0)
  })
})

const harmfulChanges: readonly [string, ChangedFiles][] = [
  [
    'several-heads',
    {
      [harborCatalogPath]: createCatalogYaml(
        createChannelYaml('stable', '{name: harbor.v1.0.0}, {name: harbor.v1.1.0}'),
        createChannelYaml('old', '{name: harbor.v1.0.0}'),
        createBundleYaml('1.0.0'),
        createBundleYaml('1.1.0'),
      ),
    },
  ],
  [
    'bundle-edited',
    {
      [harborCatalogPath]: createCatalogYaml(
        firstReleaseBlobs[0] ?? '',
        createBundleYaml('1.0.0', `sha256:${'b'.repeat(64)}`),
        createChannelYaml('old', '{name: harbor.v1.0.0}'),
      ),
    },
  ],
  [
    'installed-version-stranded',
    {
      [harborCatalogPath]: createCatalogYaml(
        createChannelYaml('stable', '{name: harbor.v1.1.0}'),
        createChannelYaml('old', '{name: harbor.v1.0.0}'),
        createBundleYaml('1.0.0'),
        createBundleYaml('1.1.0'),
      ),
    },
  ],
  ['bundle-directory-of-other-package', createBundleDirectory('plain/1.1.0', { packageName: 'harbor' })],
  ['bundle-directory-name-taken', createBundleDirectory('plain/1.1.0', { name: 'plain.v1.0.0' })],
  [
    'unparsable-min-kube-version',
    createBundleDirectory('plain/1.1.0', { spec: `${replacesFieldYamlLine}  minKubeVersion: new\n` }),
  ],
  [
    'broken-object-metadata',
    {
      ...createBundleDirectory('plain/1.1.0', { spec: replacesFieldYamlLine }),
      'operators/plain/1.1.0/manifests/account.yaml':
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, labels: {"a b": c}}\n',
    },
  ],
]

describe('harmful changes', () => {
  const { pulls, status, stderr } = replayPulls(
    harmfulChanges.map(([, change]) => change),
    '--max-blocked',
    '49.9',
  )

  test.each(harmfulChanges)('%s blocks a harmful change', (rule, change) => {
    expect(pulls.get(change)).toMatchObject({ decision: 'blocked', rules: expect.arrayContaining([rule]) })
  })

  test('above the limit let the replay exit with 1', () => {
    expect(stderr).toContain('\nwould have blocked 7 of 14 evaluated pull requests (50.0 %)\n')
    expect(status).toBe(1)
  })
})

test('a limit fails the replay if no pull request was evaluated', () => {
  const { status } = replayPulls([{}], '--max-blocked', '0.5', '--since', '2090-01-01')
  expect(status).toBe(1)
})
