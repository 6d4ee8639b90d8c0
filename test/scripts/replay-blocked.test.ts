// Harmless changes from merged pull requests of real repositories, reproduced in small: the replay blocks none of
// them. And what does harm: it blocks each, and says how many in its last lines.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeOrigin, temporary, type Files, type Origin } from '../git/origin.ts'

const root = join(import.meta.dirname, '../..')
const folder = temporary('replay-blocked')
let origin: Origin
beforeAll(() => {
  origin = makeOrigin(folder.path)
})
afterAll(() => folder.remove())

interface Bundle {
  readonly directory?: string
  readonly version?: string
  readonly name?: string
  readonly its?: string
  readonly spec?: string
  readonly more?: Files
}

/** The files of a bundle directory. */
function bundle(
  place: string,
  { version = place.split('/')[1] ?? '', its = place.split('/')[0] ?? '', ...more }: Bundle = {},
): Files {
  const at = `operators/${place}`
  return {
    [`${at}/manifests/its.clusterserviceversion.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: ${more.name ?? `${its}.v${version}`}}
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
  operators.operatorframework.io.bundle.package.v1: ${its}
  operators.operatorframework.io.bundle.channels.v1: stable
`,
    ...more.more,
  }
}

const digest = `sha256:${'a'.repeat(64)}`
const channel = (name: string, entries: string) =>
  `---\nschema: olm.channel\npackage: harbor\nname: ${name}\nentries: [${entries}]\n`
const blob = (version: string, image = digest) => `---
schema: olm.bundle
name: harbor.v${version}
package: harbor
image: quay.io/harbor/harbor@${image}
properties: [{type: olm.package, value: {packageName: harbor, version: ${version}}}]
`
const harbor = 'catalogs/v4.20/harbor/catalog.yaml'
const catalog = (...blobs: string[]) =>
  `schema: olm.package\nname: harbor\ndefaultChannel: stable\n${blobs.join('')}`
const first = [channel('stable', '{name: harbor.v1.0.0}'), blob('1.0.0')]

const mapping = `fbc:
  enabled: true
  catalog_mapping: [{template_name: t.yaml, type: olm.template.basic, catalog_names: [v4.20]}]
`
const release = (template: string, replaces: string): Files => ({
  'operators/harbor/1.1.0/release-config.yaml': `catalog_templates:\n  - {template_name: ${template}, channels: [stable]${replaces}}\n`,
})
const crd: Files = {
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
const account: Files = {
  'operators/plain/1.1.0/manifests/account.yaml':
    'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, namespace: elsewhere}\n',
}
const owned = (group: string) =>
  `  customresourcedefinitions: {owned: [{name: plains.example.com, version: v1, kind: Plain${group}, description: A.}]}\n`

const base: Files = {
  '.github/workflows/build.yml': 'on: push\n',
  'operators/harbor/ci.yaml': mapping,
  'operators/harbor/catalog-templates/t.yaml': `schema: olm.template.basic
entries:
- {schema: olm.package, name: harbor, defaultChannel: stable}
- {schema: olm.channel, package: harbor, name: stable, entries: [{name: harbor.v1.0.0}]}
- {schema: olm.bundle, image: 'quay.io/harbor/harbor@${digest}'}
`,
  [harbor]: catalog(...first, channel('old', '{name: harbor.v1.0.0}')),
  ...bundle('harbor/1.0.0'),
  'operators/plain/ci.yaml': 'updateGraph: replaces-mode\n',
  ...bundle('plain/1.0.0'),
  'operators/sorted/ci.yaml': 'updateGraph: semver-mode\n',
  ...bundle('sorted/1.0.0'),
}
const { [`operators/harbor/ci.yaml`]: _, ...others } = base
const next = '  replaces: plain.v1.0.0\n'

/** A pull request that was merged onto `base`, as the replay tells of it. */
function replay(after: Files, ...more: string[]) {
  const from = origin.commit(base)
  origin.branch('main', origin.commit(after, [from]))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', 'scripts/replay.ts', '--mirror', origin.directory, '--branch', 'main', ...more],
    { cwd: root, encoding: 'utf8' },
  )
  const [line] = stdout.trim().split('\n')
  const { decision, rules, warnings } = JSON.parse(line || '{}') as Record<string, unknown>
  return { status, decision, rules, warnings, stderr }
}

test.each<[string, string, Files]>([
  [
    'group-in-owned-crd',
    'the group beside the name of an owned CRD',
    { ...base, ...bundle('plain/1.1.0', { spec: next + owned(', group: example.com') }), ...crd },
  ],
  [
    'bundle-directory-of-other-version',
    'a directory whose name begins with v',
    { ...base, ...bundle('plain/v1.1.0', { version: '1.1.0', spec: next }) },
  ],
  [
    'bundle-directory-unconnected',
    'a bundle without a way from those before it',
    { ...base, ...bundle('plain/1.1.0') },
  ],
  [
    'bundle-directory-edge-to-nowhere',
    'a bundle that replaces one that other histories have',
    { ...base, ...bundle('plain/1.1.0', { spec: '  replaces: plain.v0.9.0\n' }) },
  ],
  [
    'removed-bundle-in-use',
    'a bundle that is removed below another',
    (() => {
      const { ...all } = { ...base, ...bundle('plain/1.0.1', { spec: next }) } as Record<
        string,
        Files[string]
      >
      for (const path of Object.keys(bundle('plain/1.0.0'))) delete all[path]
      return all
    })(),
  ],
  [
    'release-config-mismatch',
    'a template that ci.yaml does not map',
    { ...base, ...bundle('harbor/1.1.0'), ...release('other.yaml', '') },
  ],
  [
    'several-heads',
    'a release that leaves two heads',
    { ...base, ...bundle('harbor/1.1.0'), ...release('t.yaml', '') },
  ],
  [
    'bundle-directory-name-taken',
    'two directories of one name beside templates',
    { ...base, ...bundle('harbor/1.1.0', { name: 'harbor.v1.0.0' }) },
  ],
  [
    'malformed-package-settings',
    'a template that its first release makes',
    { ...others, 'operators/harbor/ci.yaml': mapping.replaceAll('t.yaml', 'new.yaml') },
  ],
  [
    'unreadable-bundle',
    'manifests beside metadata',
    {
      ...base,
      'operators/plain/1.1.0/metadata/annotations.yaml':
        bundle('plain/1.1.0')['operators/plain/1.1.0/metadata/annotations.yaml'] ?? '',
    },
  ],
  ['channel-removed', 'a channel that a maintainer is asked about', { ...base, [harbor]: catalog(...first) }],
  [
    'broken-object-metadata',
    'a namespace that OLM replaces',
    { ...base, ...bundle('plain/1.1.0', { spec: next }), ...account },
  ],
  [
    'unparsable-min-kube-version',
    'a v that OLM ignores',
    { ...base, ...bundle('plain/1.1.0', { spec: `${next}  minKubeVersion: v1.25.0\n` }) },
  ],
  [
    'broken-examples',
    'examples that are not JSON',
    {
      ...base,
      ...Object.fromEntries(
        Object.entries(bundle('plain/1.1.0', { spec: next })).map(([path, text]) => [
          path,
          (text as string).replace('metadata: {', "metadata: {annotations: {alm-examples: '[{'}, "),
        ]),
      ),
    },
  ],
  [
    'workflow-edit-in-history',
    'workflows that the pull request shows',
    { ...base, '.github/workflows/build.yml': 'on: [push]\n' },
  ],
])('%s blocks nothing: %s', (rule, _what, after) => {
  const { decision, rules, warnings, status, stderr } = replay(after, '--max-blocked', '0')
  expect({ rules, warnings }).toMatchObject({ rules: [], warnings: expect.arrayContaining([rule]) })
  expect(decision).not.toBe('blocked')
  expect(stderr).toContain('\nwould have blocked 0 of 1 judged (0.0 %)\n')
  expect(status).toBe(0)
})

test('in semver-mode the bundle that another one replaces is ignored', () => {
  const { rules, warnings } = replay({
    ...base,
    ...bundle('sorted/1.1.0', { spec: '  replaces: other.v1.0.0\n' }),
  })
  expect([rules, warnings]).toEqual([[], expect.not.arrayContaining(['bundle-directory-edge-to-nowhere'])])
})

test.each<[string, Files]>([
  [
    'several-heads',
    {
      ...base,
      [harbor]: catalog(
        channel('stable', '{name: harbor.v1.0.0}, {name: harbor.v1.1.0}'),
        channel('old', '{name: harbor.v1.0.0}'),
        blob('1.0.0'),
        blob('1.1.0'),
      ),
    },
  ],
  [
    'bundle-edited',
    {
      ...base,
      [harbor]: catalog(
        first[0] ?? '',
        blob('1.0.0', `sha256:${'b'.repeat(64)}`),
        channel('old', '{name: harbor.v1.0.0}'),
      ),
    },
  ],
  [
    'installed-version-stranded',
    {
      ...base,
      [harbor]: catalog(
        channel('stable', '{name: harbor.v1.1.0}'),
        channel('old', '{name: harbor.v1.0.0}'),
        blob('1.0.0'),
        blob('1.1.0'),
      ),
    },
  ],
  ['bundle-directory-of-other-package', { ...base, ...bundle('plain/1.1.0', { its: 'harbor' }) }],
  ['bundle-directory-name-taken', { ...base, ...bundle('plain/1.1.0', { name: 'plain.v1.0.0' }) }],
  [
    'unparsable-min-kube-version',
    { ...base, ...bundle('plain/1.1.0', { spec: `${next}  minKubeVersion: new\n` }) },
  ],
  [
    'broken-object-metadata',
    {
      ...base,
      ...bundle('plain/1.1.0', { spec: next }),
      'operators/plain/1.1.0/manifests/account.yaml':
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, labels: {"a b": c}}\n',
    },
  ],
])('%s blocks where it harms users, and more than the limit ends the replay with 1', (rule, after) => {
  const { decision, rules, status, stderr } = replay(after, '--max-blocked', '0.5')
  expect({ decision, rules, status }).toMatchObject({
    decision: 'blocked',
    rules: expect.arrayContaining([rule]),
    status: 1,
  })
  expect(stderr).toContain('\nwould have blocked 1 of 1 judged (100.0 %)\n')
})

test('a limit that nothing was held to is not kept', () => {
  const { status } = replay(base, '--max-blocked', '0.5', '--since', '2090-01-01')
  expect(status).toBe(1)
})
