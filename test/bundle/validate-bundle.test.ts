import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { detectFormat } from '../../src/bundle/bundle-format.ts'
import type { BundleFiles } from '../../src/bundle/bundle-files.ts'
import { annotationKeys } from '../../src/bundle/bundle-metadata.ts'
import { suitesOfRules } from '../../src/bundle/content-rules.ts'
import { validateBundle } from '../../src/bundle/validate-bundle.ts'
import type { Suite } from '../../src/findings/suites.ts'
import { bundleFiles, crd, type Shape } from './bundle-shapes.ts'

const modes = {
  installModes: [{ type: 'AllNamespaces', supported: true }],
  install: { strategy: 'deployment', spec: { deployments: [] } },
}
const packedSize = (bytes: Uint8Array) => gzipSync(bytes).length

/** A bundle without fault, changed by `shape`. */
function bundle(shape: Shape = {}): BundleFiles {
  return bundleFiles('good', { ...shape, spec: { ...modes, ...shape.spec } })
}
function files(texts: Readonly<Record<string, string>>): BundleFiles {
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]))
}
const woken = (given: BundleFiles, wanted?: readonly Suite[]) => [
  ...new Set(
    validateBundle(given, { packedSize, ...(wanted && { suites: wanted }) }).findings.map(({ rule }) => rule),
  ),
]

/** Text that gzip cannot make smaller. */
function noise(bytes: number): string {
  let state = 1
  return Array.from({ length: bytes }, () => {
    state = (state * 48271) % 2147483647
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[state % 64]
  }).join('')
}
const configMap = (data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data: { data },
})
const annotations = (change: Readonly<Record<string, string>>) => ({ annotations: change })
const dependency = (type: string, value: unknown): Shape => ({
  files: { 'metadata/dependencies.yaml': { dependencies: [{ type, value }] } },
})
const plain = (manifest: string, mediaType = 'plain+v0') =>
  bundleFiles('plain', {
    annotations: { [annotationKeys.mediaType]: mediaType },
    files: { 'manifests/csv.yaml': manifest },
  })
const chart = 'apiVersion: v2\nname: foo\nversion: 1.0.0\n'
const helm = (text: string, more: Readonly<Record<string, string>> = {}) =>
  files({ 'Chart.yaml': text, 'templates/a.yaml': 'a: {{ .Values.a }}', ...more })

describe('a bundle that opm refuses', () => {
  const broken = bundle({
    spec: {
      version: 1,
      customresourcedefinitions: {
        owned: [
          { name: 'foos.example.com', kind: 'Foo', version: 'v1' },
          { name: 'bars', kind: 'Bar', version: 'v1' },
          { name: 'bazs.example.com', kind: 'Baz', version: 'v1' },
        ],
      },
      installModes: [],
    },
  })
  const { findings } = validateBundle(broken)

  test('is told all reasons at once, each where it stands, and what else is wrong', () => {
    const refusals = findings.filter(({ rule }) => rule === 'unreadable-bundle')
    expect(refusals.map(({ what }) => what)).toEqual([
      expect.stringContaining('cannot unmarshal number into Go value of type string'),
      expect.stringContaining("couldn't find example.com/v1/Foo (foos)"),
      expect.stringContaining("couldn't parse plural.group from crd name: bars"),
      expect.stringContaining("couldn't find example.com/v1/Baz (bazs)"),
    ])
    expect(findings.map(({ rule }) => rule)).toContain('unusable-install-modes')
  })
  test('shows every reason on a line of its own file', () => {
    for (const { rule, at } of findings)
      if (rule === 'unreadable-bundle') expect(at?.file).toMatch(/^manifests\//)
  })
})

describe('bundles without fault', () => {
  test.each<[string, BundleFiles]>([
    ['registry+v1', bundle()],
    [
      'registry+v1',
      bundle({
        spec: {
          customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
        },
        metadata: { annotations: { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' } },
        files: { 'manifests/crd.yaml': crd('foos', 'example.com', 'Foo', ['v1']) },
      }),
    ],
    ['registry+v1', bundle(dependency('olm.constraint', { failureMessage: 'm', cel: { rule: 'true' } }))],
    ['plain+v0', plain('kind: ConfigMap\napiVersion: v1\n---\nkind: Secret\napiVersion: v1\n')],
    ['plain+v0', plain('kind: Deployment\napiVersion: apps/v1\n', 'plain')],
    ['helm+v3', helm(chart)],
    ['helm+v3', files({ 'foo/Chart.yaml': chart, 'foo/crds/a.yaml': 'a: 1', 'foo/values.yaml': '' })],
    [
      'helm+v3',
      helm(chart, {
        'templates/b.yaml': '{{/* {{ */}}a: {{ "}}" | quote }}{{- if `{{` }}\nb: {c: {d: 1}}\n{{- end }}',
        'values.schema.json': '{}',
      }),
    ],
    ['helm+v3', helm(`${chart}dependencies: [{name: dep}]`, { 'charts/dep-1.0.0.tgz': '' })],
  ])('%s', (format, given) => {
    expect(validateBundle(given, { packedSize })).toEqual({ format, findings: [] })
    expect(detectFormat(given)).toBe(format)
  })
})

/** A conversion webhook in a bundle that watches one namespace. */
function owningForConversion(): BundleFiles {
  return bundle({
    metadata: { annotations: { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' } },
    spec: {
      installModes: [{ type: 'OwnNamespace', supported: true }],
      install: { strategy: 'deployment', spec: { deployments: [{ name: 'web' }] } },
      customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
      webhookdefinitions: [{ deploymentName: 'web', conversionCRDs: ['foos.example.com'] }],
    },
    files: { 'manifests/crd.yaml': crd('foos', 'example.com', 'Foo', ['v1']) },
  })
}

const features = Object.fromEntries(
  'disconnected fips-compliant proxy-aware cnf cni csi tls-profiles token-auth-aws token-auth-azure token-auth-gcp'
    .split(' ')
    .map((feature) => [`features.operators.openshift.io/${feature}`, 'false']),
)
const role = (rule: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  rules: [rule],
})

const bad: readonly (readonly [rule: string, BundleFiles])[] = [
  ['unreadable-bundle', files({})],
  ['unreadable-bundle', bundle({ files: { 'metadata/annotations.yaml': undefined } })],
  [
    'unreadable-bundle',
    bundle({
      spec: {
        customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
      },
    }),
  ],
  ['undecodable-manifest', bundle({ files: { 'manifests/broken.yaml': 'rules: [' } })],
  ['undecodable-manifest', bundle({ files: { 'manifests/README.yaml': 'hello: there' } })],
  [
    'several-csvs',
    bundle({
      files: {
        'manifests/other.yaml': {
          apiVersion: 'operators.coreos.com/v1alpha1',
          kind: 'ClusterServiceVersion',
          metadata: { name: 'b' },
        },
      },
    }),
  ],
  [
    'several-documents-in-manifest',
    bundle({ files: { 'manifests/two.yaml': 'kind: ConfigMap\nmetadata: {name: a}\n---\nkind: Secret\n' } }),
  ],
  ['nested-bundle-directory', bundle({ files: { 'manifests/crds/a.yaml': 'kind: ConfigMap' } })],
  ['missing-bundle-annotation', bundle({ annotations: { [annotationKeys.channels]: '' } })],
  ['missing-bundle-annotation', bundle({ annotations: { [annotationKeys.defaultChannel]: ' ' } })],
  ['wrong-bundle-format', bundle({ annotations: { [annotationKeys.mediaType]: 'plain+v0' } })],
  ['wrong-bundle-format', plain('kind: ConfigMap', 'helm+v3')],
  ['moved-bundle-directory', bundle({ annotations: { [annotationKeys.manifests]: 'deploy/' } })],
  [
    'misnamed-annotations-file',
    bundle({
      files: {
        'metadata/annotations.yaml': undefined,
        'metadata/bundle.yaml': annotations({
          [annotationKeys.mediaType]: 'registry+v1',
          [annotationKeys.manifests]: 'manifests/',
          [annotationKeys.metadata]: 'metadata/',
          [annotationKeys.package]: 'good',
          [annotationKeys.channels]: 'stable',
        }),
      },
    }),
  ],
  [
    'kind-not-bundled',
    bundle({
      files: { 'manifests/d.yaml': { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } } },
    }),
  ],
  [
    'kind-not-bundled',
    bundle({
      files: {
        'manifests/d.yaml': {
          apiVersion: 'monitoring.coreos.com/v1',
          kind: 'PodMonitor',
          metadata: { name: 'd' },
        },
      },
    }),
  ],
  ['oversized-bundle-content', bundle({ files: { 'manifests/big.yaml': configMap(noise(1_100_000)) } })],
  ['large-bundle-content', bundle({ files: { 'manifests/big.yaml': configMap(noise(920_000)) } })],
  ['unowned-crd', bundle({ files: { 'manifests/crd.yaml': crd('extras', 'example.com', 'Extra', ['v1']) } })],
  ['malformed-dependency', bundle(dependency('olm.package', { packageName: 'p' }))],
  ['malformed-dependency', bundle(dependency('olm.gvk', { group: 'g', kind: 'K' }))],
  ['malformed-dependency', bundle(dependency('olm.label', {}))],
  ['malformed-dependency', bundle(dependency('olm.constraint', { cel: {} }))],
  ['malformed-dependency', bundle(dependency('olm.constraint', { all: {}, any: {} }))],
  ['malformed-dependency', bundle(dependency('olm.crd', { name: 'x' }))],
  [
    'service-account-bundled',
    bundle({
      spec: {
        install: {
          strategy: 'deployment',
          spec: {
            permissions: [{ serviceAccountName: 'sa', rules: [] }],
            deployments: [{ name: 'd', spec: { template: { spec: { serviceAccountName: 'sa' } } } }],
          },
        },
      },
      files: { 'manifests/sa.yaml': { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } } },
    }),
  ],
  ['unusable-install-modes', bundle({ spec: { installModes: [] } })],
  [
    'unusable-install-modes',
    bundle({ spec: { installModes: [{ type: 'AllNamespaces', supported: false }] } }),
  ],
  [
    'unusable-install-modes',
    bundle({ spec: { installModes: [...modes.installModes, ...modes.installModes] } }),
  ],
  ['broken-examples', bundle({ metadata: { annotations: { 'alm-examples': '[{' } } })],
  ['broken-examples', bundle({ metadata: { annotations: { 'alm-examples': '{}' } } })],
  ['invalid-csv-name', bundle({ csv: { metadata: { name: 'Foo_Operator' } } })],
  ['invalid-csv-name', bundle({ csv: { metadata: { name: 'f'.repeat(64) } } })],
  ['unusable-install-modes', owningForConversion()],
  ['malformed-dependency', bundle(dependency('olm.package', { packageName: 'p', version: '^1.0.0' }))],
  ['invalid-csv-name', bundle({ spec: { replaces: 'Foo_Operator' } })],
  ['hidden-bundle-file', bundle({ files: { 'manifests/.a.yaml': 'kind: ConfigMap' } })],
  [
    'colliding-file-names',
    bundle({
      files: { 'manifests/a b.yaml': 'kind: ConfigMap\nmetadata: {name: a}', 'metadata/a-b.yaml': 'a: 1' },
    }),
  ],
  ['braces-in-plain-bundle', plain('kind: ConfigMap\ndata: {greeting: "{{ name }}"}')],
  ['broken-chart', helm('apiVersion: v3\nname: foo\nversion: 1.0.0')],
  ['broken-chart', helm('apiVersion: v2\nname: foo\nversion: one')],
  ['broken-chart', helm(`${chart}type: library`)],
  ['broken-chart', helm(`${chart}dependencies: [{name: dep}]`)],
  ['broken-chart', helm(chart, { 'values.yaml': 'a: [' })],
  ['broken-chart', helm('[')],
  ['broken-chart', helm(chart, { 'values.schema.json': '[]' })],
  ['broken-chart', helm(chart, { 'templates/b.yaml': 'a: {{ .Values.a' })],
  ['broken-chart', helm(chart, { 'requirements.yaml': 'dependencies: [{name: dep}]' })],
  ['undecodable-manifest', plain('kind: ConfigMap\n---\nkind: [\n')],
  ['undecodable-manifest', plain('kind: ConfigMap\n---\nhello: there\n')],
  ['broken-chart', files({ 'Chart.yaml': chart })],
]

const foo = { name: 'foos.example.com', version: 'v1', kind: 'Foo', description: 'A Foo.' }
const exampleOfFoo = { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' }
/** A bundle that owns the API Foo and has an example of it. */
const owning = (shape: Shape = {}, definition: unknown = crd('foos', 'example.com', 'Foo', ['v1'])) =>
  bundle({
    ...shape,
    metadata: { annotations: exampleOfFoo, ...shape.metadata },
    spec: { customresourcedefinitions: { owned: [foo] }, ...shape.spec },
    files: { 'manifests/crd.yaml': definition, ...shape.files },
  })
const changed = (change: object) => {
  const whole = crd('foos', 'example.com', 'Foo', ['v1'])
  return { ...whole, spec: { ...whole.spec, ...change } }
}
const version = (name: string, change: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...change,
})
const container = { name: 'c', resources: { requests: { cpu: '1', memory: '1Gi' } } }
const deploy = (pod: object, name = 'web', more: object = {}) => ({
  install: {
    strategy: 'deployment',
    spec: { deployments: [{ name, spec: { template: { spec: pod } } }], ...more },
  },
})
const manifest = (data: object) => ({ files: { 'manifests/more.yaml': data } })
const webhook = (...definitions: object[]) => ({
  ...deploy({ containers: [container] }),
  webhookdefinitions: definitions,
})
const pinned = {
  onlyOn: (key: string, ...values: string[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }],
      },
    },
  }),
}

/** Of rules that look at what a bundle says (every one has its examples, too): the suite, what wakes it, and what is nearly the same and does not. */
const content: readonly (readonly [
  rule: string,
  suite: Suite | undefined,
  bad: BundleFiles,
  good: BundleFiles,
])[] = [
  [
    'broken-crd',
    undefined,
    owning({}, changed({ versions: [version('v1'), version('v2')] })),
    owning({}, changed({ versions: [version('v1'), version('v2', { storage: false })] })),
  ],
  [
    'broken-crd',
    undefined,
    owning({}, changed({ versions: [version('v1', { schema: undefined })] })),
    owning(),
  ],
  [
    'broken-crd',
    undefined,
    owning({}, changed({ versions: [version('v1'), version('v1', { storage: false })] })),
    owning(),
  ],
  [
    'broken-crd',
    undefined,
    owning({}, changed({ scope: 'Everywhere' })),
    owning({}, changed({ scope: 'Cluster' })),
  ],
  [
    'duplicate-crd',
    undefined,
    owning(manifest(crd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1'))),
    owning(),
  ],
  [
    'unserved-owned-crd',
    undefined,
    owning({}, changed({ versions: [version('v1', { served: false })] })),
    owning(),
  ],
  [
    'unparsable-related-image',
    undefined,
    bundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/Up/per' }] } }),
    bundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/up/per:1' }] } }),
  ],
  ['unparsable-related-image', undefined, bundle({ spec: { relatedImages: [{ name: 'a' }] } }), bundle()],
  [
    'name-without-release',
    undefined,
    bundle({ spec: { release: '2' } }),
    bundle({ spec: { release: '2' }, metadata: { name: 'good-v1.0.0-2' } }),
  ],
  ['missing-csv-field', undefined, bundle({ spec: { displayName: '' } }), bundle()],
  ['missing-csv-field', undefined, bundle({ spec: { install: undefined } }), bundle()],
  ['unknown-csv-version', undefined, bundle({ csv: { apiVersion: 'operators.coreos.com/v2' } }), bundle()],
  [
    'example-of-other-api',
    undefined,
    owning({
      metadata: {
        annotations: {
          'alm-examples':
            '[{"apiVersion":"example.com/v1","kind":"Foo"},{"apiVersion":"example.com/v1","kind":"Bar"}]',
        },
      },
    }),
    owning(),
  ],
  [
    'api-without-example',
    'good-practices',
    owning({ metadata: { annotations: {} }, spec: deploy({ containers: [container] }) }),
    owning({ spec: deploy({ containers: [container] }) }),
  ],
  [
    'two-example-annotations',
    undefined,
    owning({ metadata: { annotations: { ...exampleOfFoo, 'olm.examples': '[]' } } }),
    owning({ metadata: { annotations: { 'olm.examples': exampleOfFoo['alm-examples'] } } }),
  ],
  [
    'misspelt-annotation',
    undefined,
    bundle({ metadata: { annotations: { 'olm.skiprange': '<1.0.0' } } }),
    bundle({ metadata: { annotations: { 'olm.skipRange': '<1.0.0' } } }),
  ],
  [
    'properties-in-annotation',
    undefined,
    bundle({ metadata: { annotations: { 'olm.properties': '[]' } } }),
    bundle(),
  ],
  [
    'unparsable-min-kube-version',
    undefined,
    bundle({ spec: { minKubeVersion: '1.25' } }),
    bundle({ spec: { minKubeVersion: '1.25.0' } }),
  ],
  [
    'unknown-service-account',
    undefined,
    bundle({ spec: deploy({ serviceAccountName: 'sa', containers: [container] }) }),
    bundle({
      spec: deploy({ serviceAccountName: 'sa', containers: [container] }, 'web', {
        clusterPermissions: [{ serviceAccountName: 'sa', rules: [] }],
      }),
    }),
  ],
  [
    'broken-deployment',
    undefined,
    bundle({ spec: deploy({ containers: [container] }, 'Web') }),
    bundle({ spec: deploy({ containers: [container] }) }),
  ],
  [
    'broken-webhook',
    undefined,
    bundle({
      spec: webhook({ type: 'ValidatingAdmissionWebhook', generateName: 'a', deploymentName: 'gone' }),
    }),
    bundle({
      spec: webhook({ type: 'ValidatingAdmissionWebhook', generateName: 'a', deploymentName: 'web' }),
    }),
  ],
  [
    'broken-webhook',
    undefined,
    bundle({
      spec: webhook({ generateName: 'a', deploymentName: 'web', conversionCRDs: ['bars.example.com'] }),
    }),
    owning({
      spec: webhook({ generateName: 'a', deploymentName: 'web', conversionCRDs: ['foos.example.com'] }),
    }) && bundle(),
  ],
  [
    'duplicate-webhook',
    undefined,
    bundle({
      spec: webhook(
        { type: 'A', generateName: 'a', deploymentName: 'web' },
        { type: 'A', generateName: 'a', deploymentName: 'web' },
      ),
    }),
    bundle({
      spec: webhook(
        { type: 'A', generateName: 'a', deploymentName: 'web' },
        { type: 'B', generateName: 'a', deploymentName: 'web' },
      ),
    }),
  ],
  [
    'oversized-manifest',
    undefined,
    bundle(manifest(configMap('a'.repeat(1_600_000)))),
    bundle(manifest(configMap('a'.repeat(1_500_000)))),
  ],
  [
    'no-resource-requests',
    'good-practices',
    bundle({ spec: deploy({ containers: [{ name: 'c' }] }) }),
    bundle({ spec: deploy({ containers: [container] }) }),
  ],
  [
    'undescribed-crd',
    'good-practices',
    owning({
      spec: {
        ...deploy({ containers: [container] }),
        customresourcedefinitions: { owned: [{ ...foo, description: '' }] },
      },
    }),
    owning({ spec: deploy({ containers: [container] }) }),
  ],
  [
    'unconventional-channel',
    'good-practices',
    bundle({
      spec: deploy({ containers: [container] }),
      annotations: { [annotationKeys.channels]: 'stable, alpha' },
    }),
    bundle({
      spec: deploy({ containers: [container] }),
      annotations: { [annotationKeys.channels]: 'stable-1.x,fast,candidate' },
    }),
  ],
  [
    'manages-crds',
    'good-practices',
    bundle({
      spec: deploy({ containers: [container] }, 'web', {
        permissions: [
          {
            serviceAccountName: 'a',
            rules: [{ apiGroups: ['apiextensions.k8s.io'], resources: ['*'], verbs: ['patch'] }],
          },
        ],
      }),
    }),
    bundle({
      spec: deploy({ containers: [container] }, 'web', {
        permissions: [
          {
            serviceAccountName: 'a',
            rules: [{ apiGroups: ['apiextensions.k8s.io'], resources: ['*'], verbs: ['get'] }],
          },
        ],
      }),
    }),
  ],
  [
    'unconventional-csv-name',
    'good-practices',
    bundle({ spec: deploy({ containers: [container] }), metadata: { name: 'good-1.0.0' } }),
    bundle({ spec: deploy({ containers: [container] }), metadata: { name: 'good.v1.0.0-rc.1' } }),
  ],
  [
    'no-deployment',
    'good-practices',
    bundle({ spec: { install: { strategy: 'deployment', spec: {} } } }),
    bundle({ spec: deploy({ containers: [container] }) }),
  ],
  ...operatorHub(),
  [
    'removed-api',
    'deprecated-apis',
    bundle(manifest({ apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'p' } })),
    bundle(manifest({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'p' } })),
  ],
  [
    'api-never-there',
    'deprecated-apis',
    bundle({
      ...manifest({ apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'p' } }),
      spec: { minKubeVersion: '1.25.0' },
    }),
    bundle({
      ...manifest({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'p' } }),
      spec: { minKubeVersion: '1.25.0' },
    }),
  ],
  [
    'no-max-openshift-version',
    'community',
    owning({}, crd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1')),
    owning(
      {
        files: {
          'metadata/properties.yaml': { properties: [{ type: 'olm.maxOpenShiftVersion', value: '4.8' }] },
        },
      },
      crd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1'),
    ),
  ],
  [
    'platform-nowhere-scheduled',
    'multiarch',
    bundle({
      metadata: { labels: { 'operatorframework.io/arch.s390x': 'supported' } },
      spec: deploy({ containers: [container], affinity: pinned.onlyOn('kubernetes.io/arch', 'amd64') }),
    }),
    bundle({
      metadata: { labels: { 'operatorframework.io/arch.s390x': 'supported' } },
      spec: deploy({ containers: [container], affinity: pinned.onlyOn('kubernetes.io/os', 'linux') }),
    }),
  ],
  [
    'blocking-disruption-budget',
    'objects',
    bundle(
      manifest({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { maxUnavailable: 0 },
      }),
    ),
    bundle(
      manifest({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { maxUnavailable: 1 },
      }),
    ),
  ],
  [
    'global-default-priority',
    'objects',
    bundle(
      manifest({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'p' },
        globalDefault: true,
      }),
    ),
    bundle(manifest({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'p' } })),
  ],
  [
    'risky-permission',
    'objects',
    bundle(manifest(role({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['update'] }))),
    bundle(manifest(role({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get'] }))),
  ],
  [
    'risky-permission',
    'objects',
    bundle(
      manifest(
        role({
          apiGroups: ['security.openshift.io'],
          resources: ['securitycontextconstraints'],
          verbs: ['*'],
          resourceNames: ['anyuid'],
        }),
      ),
    ),
    bundle(
      manifest(
        role({
          apiGroups: ['security.openshift.io'],
          resources: ['securitycontextconstraints'],
          verbs: ['*'],
          resourceNames: ['mine'],
        }),
      ),
    ),
  ],
  [
    'unrelated-image',
    'openshift',
    bundle({
      metadata: { annotations: features },
      spec: deploy({
        containers: [{ ...container, env: [{ name: 'RELATED_IMAGE_A', value: 'quay.io/a/b:1' }] }],
      }),
    }),
    bundle({
      metadata: { annotations: features },
      spec: {
        ...deploy({
          containers: [{ ...container, env: [{ name: 'RELATED_IMAGE_A', value: 'quay.io/a/b:1' }] }],
        }),
        relatedImages: [{ name: 'b', image: 'quay.io/a/b:1' }],
      },
    }),
  ],
  [
    'missing-feature-annotation',
    'openshift',
    bundle({ metadata: { annotations: { ...features, 'features.operators.openshift.io/cni': 'maybe' } } }),
    bundle({ metadata: { annotations: features } }),
  ],
]

function operatorHub() {
  const whole = {
    provider: { name: 'P' },
    minKubeVersion: '1.25.0',
    icon: [{ base64data: 'AAAA', mediatype: 'image/png' }],
    maintainers: [{ name: 'M', email: 'm@example.com' }],
    links: [{ name: 'L', url: 'https://l.example' }],
  }
  const good = bundle({
    spec: whole,
    metadata: { annotations: { capabilities: 'Basic Install', categories: 'Database, Security' } },
  })
  const change = (spec: object, metadata: object = {}) =>
    bundle({ spec: { ...whole, ...spec }, metadata: { annotations: metadata } })
  return (
    [
      ['no-provider', change({ provider: {} })],
      ['no-min-kube-version', change({ minKubeVersion: '' })],
      ['no-icon', change({ icon: [] })],
      ['broken-icon', change({ icon: [{ base64data: 'A', mediatype: 'image/bmp' }] })],
      ['broken-icon', change({ icon: [...whole.icon, ...whole.icon] })],
      ['broken-icon', change({ icon: [{ mediatype: 'image/png' }] })],
      ['incomplete-maintainer', change({ maintainers: [{ name: 'M', email: 'nobody' }] })],
      ['incomplete-link', change({ links: [{ name: 'L', url: 'l.example' }] })],
      ['no-csv-version', change({ version: '0.0.0' })],
      ['unknown-capability', change({}, { capabilities: 'Full' }), 'capabilities'],
      ['unknown-category', change({}, { categories: 'Database, Databases' }), 'categories'],
    ] as const
  ).map(([rule, bad, suite]) => [rule, suite ?? ('operatorhub' as const), bad, good] as const)
}

describe('rules about what a bundle says', () => {
  test.each(content)('%s (%s)', (rule, suite, bad, good) => {
    expect(woken(bad, suite && [suite])).toEqual([rule])
    expect(woken(good, suite && [suite])).toEqual([])
  })
  test('those of a suite are silent unless it is asked for', () => {
    for (const [rule, suite, bad] of content)
      if (suite !== undefined) expect({ rule, woken: woken(bad) }).toEqual({ rule, woken: [] })
  })
  test('each rule is of the suite that wakes it', () => {
    for (const [rule, suite] of content)
      expect({ rule, suite }).toEqual({ rule, suite: suitesOfRules.get(rule) })
  })
  test('a finding points at the line in the file', () => {
    const yaml =
      'apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: a.v1.0.0\nspec:\n  displayName: A\n  install: { strategy: deployment }\n  installModes: [{ type: AllNamespaces, supported: true }]\n  minKubeVersion: one\n'
    const { findings } = validateBundle(bundle({ files: { 'manifests/csv.yaml': yaml } }))
    expect(findings.map(({ rule, at }) => ({ rule, at }))).toEqual([
      {
        rule: 'unparsable-min-kube-version',
        at: { file: 'manifests/csv.yaml', line: 9, column: 3, endLine: 9, endColumn: 22 },
      },
    ])
  })
})

describe('labels of the image', () => {
  const labels = { [annotationKeys.mediaType]: 'registry+v1', [annotationKeys.channels]: 'alpha' }
  const wokenBy = (given: BundleFiles) =>
    validateBundle(given, { labels }).findings.map(({ rule, data }) => ({ rule, data }))
  test('that say something else than the file are told, and the file counts', () => {
    expect(wokenBy(bundle())).toEqual([
      {
        rule: 'labels-disagree',
        data: { key: annotationKeys.channels, label: 'alpha', annotation: 'stable' },
      },
    ])
  })
  test('stand in for a file that is not there, and opm still refuses the bundle', () => {
    expect([
      ...new Set(
        wokenBy(bundle({ files: { 'metadata/annotations.yaml': undefined } })).map(({ rule }) => rule),
      ),
    ]).toEqual(['unreadable-bundle', 'missing-bundle-annotation'])
  })
})

describe('each fault wakes its own rule and no other', () => {
  test.each(bad)('%s', (rule, given) => {
    expect(woken(given)).toEqual([rule])
  })
})
