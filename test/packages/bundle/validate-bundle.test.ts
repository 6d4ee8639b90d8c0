import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { type BundleFiles, detectBundleFormat } from '../../../packages/bundle/src/bundle-files.ts'
import { bundleAnnotationKeys } from '../../../packages/bundle/src/bundle-metadata.ts'
import { suiteByBundleRuleId } from '../../../packages/bundle/src/content-rules.ts'
import { validateBundle } from '../../../packages/bundle/src/validate-bundle.ts'
import type { RuleSuite } from '../../../packages/findings/src/rule.ts'
import { createBundleFiles, createCrd, type SampleBundle } from './sample-bundles.ts'

const minimalCsvSpec = {
  installModes: [{ type: 'AllNamespaces', supported: true }],
  install: { strategy: 'deployment', spec: { deployments: [] } },
}
const computeGzippedSize = (bytes: Uint8Array) => gzipSync(bytes).length

/** A valid bundle, changed by `shape`. */
function createBundle(shape: SampleBundle = {}): BundleFiles {
  return createBundleFiles('good', { ...shape, spec: { ...minimalCsvSpec, ...shape.spec } })
}
function toBundleFiles(textByPath: Readonly<Record<string, string>>): BundleFiles {
  return new Map(Object.entries(textByPath).map(([path, text]) => [path, new TextEncoder().encode(text)]))
}
const findReportedRules = (given: BundleFiles, wanted?: readonly RuleSuite[]) => [
  ...new Set(
    validateBundle(given, { packedSize: computeGzippedSize, ...(wanted && { suites: wanted }) }).findings.map(
      ({ rule }) => rule,
    ),
  ),
]

/** Text that gzip cannot make smaller. */
function createIncompressibleText(bytes: number): string {
  let state = 1
  return Array.from({ length: bytes }, () => {
    state = (state * 48271) % 2147483647
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[state % 64]
  }).join('')
}
const createConfigMap = (data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data: { data },
})
const createAnnotationOverride = (change: Readonly<Record<string, string>>) => ({ annotations: change })
const createBundleWithDependency = (type: string, value: unknown): SampleBundle => ({
  files: { 'metadata/dependencies.yaml': { dependencies: [{ type, value }] } },
})
const createPlainBundleFiles = (manifest: string, mediaType = 'plain+v0') =>
  createBundleFiles('plain', {
    annotations: { [bundleAnnotationKeys.mediaType]: mediaType },
    files: { 'manifests/csv.yaml': manifest },
  })
const chartYaml = 'apiVersion: v2\nname: foo\nversion: 1.0.0\n'
const createHelmBundle = (text: string, more: Readonly<Record<string, string>> = {}) =>
  toBundleFiles({ 'Chart.yaml': text, 'templates/a.yaml': 'a: {{ .Values.a }}', ...more })

describe('a bundle that opm rejects', () => {
  const broken = createBundle({
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

  test('reports all reasons at once, and the other problems', () => {
    expect(findings.filter(({ rule }) => rule === 'unreadable-bundle').map(({ what }) => what)).toEqual([
      expect.stringContaining('cannot unmarshal number into Go value of type string'),
      expect.stringContaining("couldn't find example.com/v1/Foo (foos)"),
      expect.stringContaining("couldn't parse plural.group from crd name: bars"),
      expect.stringContaining("couldn't find example.com/v1/Baz (bazs)"),
    ])
    expect(findings.map(({ rule }) => rule)).toContain('unusable-install-modes')
  })
  test('reports every reason in a manifest file', () => {
    for (const { rule, at } of findings)
      if (rule === 'unreadable-bundle') expect(at?.file).toMatch(/^manifests\//)
  })
})

describe('valid bundles', () => {
  test.each<[string, BundleFiles]>([
    ['registry+v1', createBundle()],
    [
      'registry+v1',
      createBundle({
        spec: {
          customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
        },
        metadata: { annotations: { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' } },
        files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
      }),
    ],
    [
      'registry+v1',
      createBundle(
        createBundleWithDependency('olm.constraint', { failureMessage: 'm', cel: { rule: 'true' } }),
      ),
    ],
    [
      'plain+v0',
      createPlainBundleFiles('kind: ConfigMap\napiVersion: v1\n---\nkind: Secret\napiVersion: v1\n'),
    ],
    ['plain+v0', createPlainBundleFiles('kind: Deployment\napiVersion: apps/v1\n', 'plain')],
    ['helm+v3', createHelmBundle(chartYaml)],
    [
      'helm+v3',
      toBundleFiles({ 'foo/Chart.yaml': chartYaml, 'foo/crds/a.yaml': 'a: 1', 'foo/values.yaml': '' }),
    ],
    [
      'helm+v3',
      createHelmBundle(chartYaml, {
        'templates/b.yaml': '{{/* {{ */}}a: {{ "}}" | quote }}{{- if `{{` }}\nb: {c: {d: 1}}\n{{- end }}',
        'values.schema.json': '{}',
      }),
    ],
    ['helm+v3', createHelmBundle(`${chartYaml}dependencies: [{name: dep}]`, { 'charts/dep-1.0.0.tgz': '' })],
  ])('%s', (format, given) => {
    expect(validateBundle(given, { packedSize: computeGzippedSize })).toEqual({ format, findings: [] })
    expect(detectBundleFormat(given)).toBe(format)
  })
})

/** A conversion webhook in a bundle that watches one namespace. */
function createBundleWithConversionWebhook(): BundleFiles {
  return createBundle({
    metadata: { annotations: { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' } },
    spec: {
      installModes: [{ type: 'OwnNamespace', supported: true }],
      install: { strategy: 'deployment', spec: { deployments: [{ name: 'web' }] } },
      customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
      webhookdefinitions: [{ deploymentName: 'web', conversionCRDs: ['foos.example.com'] }],
    },
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
  })
}

const featureAnnotations = Object.fromEntries(
  'disconnected fips-compliant proxy-aware cnf cni csi tls-profiles token-auth-aws token-auth-azure token-auth-gcp'
    .split(' ')
    .map((feature) => [`features.operators.openshift.io/${feature}`, 'false']),
)
const createClusterRole = (rule: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  rules: [rule],
})

const invalidBundleCases: readonly (readonly [rule: string, BundleFiles])[] = [
  ['unreadable-bundle', toBundleFiles({})],
  ['unreadable-bundle', createBundle({ files: { 'metadata/annotations.yaml': undefined } })],
  [
    'unreadable-bundle',
    createBundle({
      spec: {
        customresourcedefinitions: { owned: [{ name: 'foos.example.com', version: 'v1', kind: 'Foo' }] },
      },
    }),
  ],
  ['undecodable-manifest', createBundle({ files: { 'manifests/broken.yaml': 'rules: [' } })],
  ['undecodable-manifest', createBundle({ files: { 'manifests/README.yaml': 'hello: there' } })],
  [
    'several-csvs',
    createBundle({
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
    createBundle({
      files: { 'manifests/two.yaml': 'kind: ConfigMap\nmetadata: {name: a}\n---\nkind: Secret\n' },
    }),
  ],
  ['nested-bundle-directory', createBundle({ files: { 'manifests/crds/a.yaml': 'kind: ConfigMap' } })],
  ['missing-bundle-annotation', createBundle({ annotations: { [bundleAnnotationKeys.channels]: '' } })],
  [
    'missing-bundle-annotation',
    createBundle({ annotations: { [bundleAnnotationKeys.defaultChannel]: ' ' } }),
  ],
  ['wrong-bundle-format', createBundle({ annotations: { [bundleAnnotationKeys.mediaType]: 'plain+v0' } })],
  ['wrong-bundle-format', createPlainBundleFiles('kind: ConfigMap', 'helm+v3')],
  ['moved-bundle-directory', createBundle({ annotations: { [bundleAnnotationKeys.manifests]: 'deploy/' } })],
  [
    'misnamed-annotations-file',
    createBundle({
      files: {
        'metadata/annotations.yaml': undefined,
        'metadata/bundle.yaml': createAnnotationOverride({
          [bundleAnnotationKeys.mediaType]: 'registry+v1',
          [bundleAnnotationKeys.manifests]: 'manifests/',
          [bundleAnnotationKeys.metadata]: 'metadata/',
          [bundleAnnotationKeys.package]: 'good',
          [bundleAnnotationKeys.channels]: 'stable',
        }),
      },
    }),
  ],
  [
    'kind-not-bundled',
    createBundle({
      files: { 'manifests/d.yaml': { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } } },
    }),
  ],
  [
    'kind-not-bundled',
    createBundle({
      files: {
        'manifests/d.yaml': {
          apiVersion: 'monitoring.coreos.com/v1',
          kind: 'PodMonitor',
          metadata: { name: 'd' },
        },
      },
    }),
  ],
  [
    'oversized-bundle-content',
    createBundle({ files: { 'manifests/big.yaml': createConfigMap(createIncompressibleText(1_100_000)) } }),
  ],
  [
    'large-bundle-content',
    createBundle({ files: { 'manifests/big.yaml': createConfigMap(createIncompressibleText(920_000)) } }),
  ],
  [
    'unowned-crd',
    createBundle({ files: { 'manifests/crd.yaml': createCrd('extras', 'example.com', 'Extra', ['v1']) } }),
  ],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.package', { packageName: 'p' }))],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.gvk', { group: 'g', kind: 'K' }))],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.label', {}))],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.constraint', { cel: {} }))],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.constraint', { all: {}, any: {} }))],
  ['malformed-dependency', createBundle(createBundleWithDependency('olm.crd', { name: 'x' }))],
  [
    'service-account-bundled',
    createBundle({
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
  ['unusable-install-modes', createBundle({ spec: { installModes: [] } })],
  [
    'unusable-install-modes',
    createBundle({ spec: { installModes: [{ type: 'AllNamespaces', supported: false }] } }),
  ],
  [
    'unusable-install-modes',
    createBundle({
      spec: { installModes: [...minimalCsvSpec.installModes, ...minimalCsvSpec.installModes] },
    }),
  ],
  ['broken-examples', createBundle({ metadata: { annotations: { 'alm-examples': '[{' } } })],
  ['broken-examples', createBundle({ metadata: { annotations: { 'alm-examples': '{}' } } })],
  ['invalid-csv-name', createBundle({ csv: { metadata: { name: 'Foo_Operator' } } })],
  ['invalid-csv-name', createBundle({ csv: { metadata: { name: 'f'.repeat(64) } } })],
  ['unusable-install-modes', createBundleWithConversionWebhook()],
  [
    'malformed-dependency',
    createBundle(createBundleWithDependency('olm.package', { packageName: 'p', version: '^1.0.0' })),
  ],
  ['invalid-csv-name', createBundle({ spec: { replaces: 'Foo_Operator' } })],
  ['hidden-bundle-file', createBundle({ files: { 'manifests/.a.yaml': 'kind: ConfigMap' } })],
  [
    'colliding-file-names',
    createBundle({
      files: { 'manifests/a b.yaml': 'kind: ConfigMap\nmetadata: {name: a}', 'metadata/a-b.yaml': 'a: 1' },
    }),
  ],
  ['braces-in-plain-bundle', createPlainBundleFiles('kind: ConfigMap\ndata: {greeting: "{{ name }}"}')],
  ['broken-chart', createHelmBundle('apiVersion: v3\nname: foo\nversion: 1.0.0')],
  ['broken-chart', createHelmBundle('apiVersion: v2\nname: foo\nversion: one')],
  ['broken-chart', createHelmBundle(`${chartYaml}type: library`)],
  ['broken-chart', createHelmBundle(`${chartYaml}dependencies: [{name: dep}]`)],
  ['broken-chart', createHelmBundle(chartYaml, { 'values.yaml': 'a: [' })],
  ['broken-chart', createHelmBundle('[')],
  ['broken-chart', createHelmBundle(chartYaml, { 'values.schema.json': '[]' })],
  ['broken-chart', createHelmBundle(chartYaml, { 'templates/b.yaml': 'a: {{ .Values.a' })],
  ['broken-chart', createHelmBundle(chartYaml, { 'requirements.yaml': 'dependencies: [{name: dep}]' })],
  ['undecodable-manifest', createPlainBundleFiles('kind: ConfigMap\n---\nkind: [\n')],
  ['undecodable-manifest', createPlainBundleFiles('kind: ConfigMap\n---\nhello: there\n')],
  ['broken-chart', toBundleFiles({ 'Chart.yaml': chartYaml })],
]

const ownedFooCrd = { name: 'foos.example.com', version: 'v1', kind: 'Foo', description: 'A Foo.' }
const fooAlmExamples = { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' }
/** A bundle that owns the API Foo and has an example of it. */
const createBundleOwningFooCrd = (
  shape: SampleBundle = {},
  definition: unknown = createCrd('foos', 'example.com', 'Foo', ['v1']),
) =>
  createBundle({
    ...shape,
    metadata: { annotations: fooAlmExamples, ...shape.metadata },
    spec: { customresourcedefinitions: { owned: [ownedFooCrd] }, ...shape.spec },
    files: { 'manifests/crd.yaml': definition, ...shape.files },
  })
const createFooCrd = (change: object) => {
  const whole = createCrd('foos', 'example.com', 'Foo', ['v1'])
  return { ...whole, spec: { ...whole.spec, ...change } }
}
const createCrdVersion = (name: string, change: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...change,
})
const validContainer = { name: 'c', resources: { requests: { cpu: '1', memory: '1Gi' } } }
const createDeploymentInstallSpec = (pod: object, name = 'web', more: object = {}) => ({
  install: {
    strategy: 'deployment',
    spec: { deployments: [{ name, spec: { template: { spec: pod } } }], ...more },
  },
})
const createManifestFileOverride = (data: object) => ({ files: { 'manifests/more.yaml': data } })
const createWebhookInstallSpec = (...definitions: object[]) => ({
  ...createDeploymentInstallSpec({ containers: [validContainer] }),
  webhookdefinitions: definitions,
})
const nodeAffinityBuilders = {
  onlyOn: (key: string, ...values: string[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }],
      },
    },
  }),
}

/**
 * For each rule about the content of a bundle: its suite, a bundle that triggers it, and a similar one that does not.
 */
const contentRuleCases: readonly (readonly [
  rule: string,
  suite: RuleSuite | undefined,
  bad: BundleFiles,
  good: BundleFiles,
])[] = [
  [
    'broken-crd',
    undefined,
    createBundleOwningFooCrd(
      {},
      createFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v2')] }),
    ),
    createBundleOwningFooCrd(
      {},
      createFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v2', { storage: false })] }),
    ),
  ],
  [
    'broken-crd',
    undefined,
    createBundleOwningFooCrd({}, createFooCrd({ versions: [createCrdVersion('v1', { schema: undefined })] })),
    createBundleOwningFooCrd(),
  ],
  [
    'broken-crd',
    undefined,
    createBundleOwningFooCrd(
      {},
      createFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v1', { storage: false })] }),
    ),
    createBundleOwningFooCrd(),
  ],
  [
    'broken-crd',
    undefined,
    createBundleOwningFooCrd({}, createFooCrd({ scope: 'Everywhere' })),
    createBundleOwningFooCrd({}, createFooCrd({ scope: 'Cluster' })),
  ],
  [
    'duplicate-crd',
    undefined,
    createBundleOwningFooCrd(
      createManifestFileOverride(createCrd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1')),
    ),
    createBundleOwningFooCrd(),
  ],
  [
    'unserved-owned-crd',
    undefined,
    createBundleOwningFooCrd({}, createFooCrd({ versions: [createCrdVersion('v1', { served: false })] })),
    createBundleOwningFooCrd(),
  ],
  [
    'unparsable-related-image',
    undefined,
    createBundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/Up/per' }] } }),
    createBundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/up/per:1' }] } }),
  ],
  [
    'unparsable-related-image',
    undefined,
    createBundle({ spec: { relatedImages: [{ name: 'a' }] } }),
    createBundle(),
  ],
  [
    'name-without-release',
    undefined,
    createBundle({ spec: { release: '2' } }),
    createBundle({ spec: { release: '2' }, metadata: { name: 'good-v1.0.0-2' } }),
  ],
  ['missing-csv-field', undefined, createBundle({ spec: { displayName: '' } }), createBundle()],
  ['missing-csv-field', undefined, createBundle({ spec: { install: undefined } }), createBundle()],
  [
    'unknown-csv-version',
    undefined,
    createBundle({ csv: { apiVersion: 'operators.coreos.com/v2' } }),
    createBundle(),
  ],
  [
    'example-of-other-api',
    undefined,
    createBundleOwningFooCrd({
      metadata: {
        annotations: {
          'alm-examples':
            '[{"apiVersion":"example.com/v1","kind":"Foo"},{"apiVersion":"example.com/v1","kind":"Bar"}]',
        },
      },
    }),
    createBundleOwningFooCrd(),
  ],
  [
    'api-without-example',
    'good-practices',
    createBundleOwningFooCrd({
      metadata: { annotations: {} },
      spec: createDeploymentInstallSpec({ containers: [validContainer] }),
    }),
    createBundleOwningFooCrd({ spec: createDeploymentInstallSpec({ containers: [validContainer] }) }),
  ],
  [
    'two-example-annotations',
    undefined,
    createBundleOwningFooCrd({ metadata: { annotations: { ...fooAlmExamples, 'olm.examples': '[]' } } }),
    createBundleOwningFooCrd({
      metadata: { annotations: { 'olm.examples': fooAlmExamples['alm-examples'] } },
    }),
  ],
  [
    'misspelt-annotation',
    undefined,
    createBundle({ metadata: { annotations: { 'olm.skiprange': '<1.0.0' } } }),
    createBundle({ metadata: { annotations: { 'olm.skipRange': '<1.0.0' } } }),
  ],
  [
    'properties-in-annotation',
    undefined,
    createBundle({ metadata: { annotations: { 'olm.properties': '[]' } } }),
    createBundle(),
  ],
  [
    'unparsable-min-kube-version',
    undefined,
    createBundle({ spec: { minKubeVersion: '1.25' } }),
    createBundle({ spec: { minKubeVersion: '1.25.0' } }),
  ],
  [
    'unknown-service-account',
    undefined,
    createBundle({
      spec: createDeploymentInstallSpec({ serviceAccountName: 'sa', containers: [validContainer] }),
    }),
    createBundle({
      spec: createDeploymentInstallSpec({ serviceAccountName: 'sa', containers: [validContainer] }, 'web', {
        clusterPermissions: [{ serviceAccountName: 'sa', rules: [] }],
      }),
    }),
  ],
  [
    'broken-deployment',
    undefined,
    createBundle({ spec: createDeploymentInstallSpec({ containers: [validContainer] }, 'Web') }),
    createBundle({ spec: createDeploymentInstallSpec({ containers: [validContainer] }) }),
  ],
  [
    'broken-webhook',
    undefined,
    createBundle({
      spec: createWebhookInstallSpec({
        type: 'ValidatingAdmissionWebhook',
        generateName: 'a',
        deploymentName: 'gone',
      }),
    }),
    createBundle({
      spec: createWebhookInstallSpec({
        type: 'ValidatingAdmissionWebhook',
        generateName: 'a',
        deploymentName: 'web',
      }),
    }),
  ],
  [
    'broken-webhook',
    undefined,
    createBundle({
      spec: createWebhookInstallSpec({
        generateName: 'a',
        deploymentName: 'web',
        conversionCRDs: ['bars.example.com'],
      }),
    }),
    createBundleOwningFooCrd({
      spec: createWebhookInstallSpec({
        generateName: 'a',
        deploymentName: 'web',
        conversionCRDs: ['foos.example.com'],
      }),
    }) && createBundle(),
  ],
  [
    'duplicate-webhook',
    undefined,
    createBundle({
      spec: createWebhookInstallSpec(
        { type: 'A', generateName: 'a', deploymentName: 'web' },
        { type: 'A', generateName: 'a', deploymentName: 'web' },
      ),
    }),
    createBundle({
      spec: createWebhookInstallSpec(
        { type: 'A', generateName: 'a', deploymentName: 'web' },
        { type: 'B', generateName: 'a', deploymentName: 'web' },
      ),
    }),
  ],
  [
    'oversized-manifest',
    undefined,
    createBundle(createManifestFileOverride(createConfigMap('a'.repeat(1_600_000)))),
    createBundle(createManifestFileOverride(createConfigMap('a'.repeat(1_500_000)))),
  ],
  [
    'no-resource-requests',
    'good-practices',
    createBundle({ spec: createDeploymentInstallSpec({ containers: [{ name: 'c' }] }) }),
    createBundle({ spec: createDeploymentInstallSpec({ containers: [validContainer] }) }),
  ],
  [
    'undescribed-crd',
    'good-practices',
    createBundleOwningFooCrd({
      spec: {
        ...createDeploymentInstallSpec({ containers: [validContainer] }),
        customresourcedefinitions: { owned: [{ ...ownedFooCrd, description: '' }] },
      },
    }),
    createBundleOwningFooCrd({ spec: createDeploymentInstallSpec({ containers: [validContainer] }) }),
  ],
  [
    'unconventional-channel',
    'good-practices',
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }),
      annotations: { [bundleAnnotationKeys.channels]: 'stable, alpha' },
    }),
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }),
      annotations: { [bundleAnnotationKeys.channels]: 'stable-1.x,fast,candidate' },
    }),
  ],
  [
    'manages-crds',
    'good-practices',
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }, 'web', {
        permissions: [
          {
            serviceAccountName: 'a',
            rules: [{ apiGroups: ['apiextensions.k8s.io'], resources: ['*'], verbs: ['patch'] }],
          },
        ],
      }),
    }),
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }, 'web', {
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
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }),
      metadata: { name: 'good-1.0.0' },
    }),
    createBundle({
      spec: createDeploymentInstallSpec({ containers: [validContainer] }),
      metadata: { name: 'good.v1.0.0-rc.1' },
    }),
  ],
  [
    'no-deployment',
    'good-practices',
    createBundle({ spec: { install: { strategy: 'deployment', spec: {} } } }),
    createBundle({ spec: createDeploymentInstallSpec({ containers: [validContainer] }) }),
  ],
  ...createOperatorHubBundle(),
  [
    'removed-api',
    'deprecated-apis',
    createBundle(
      createManifestFileOverride({
        apiVersion: 'policy/v1beta1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
      }),
    ),
    createBundle(
      createManifestFileOverride({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
      }),
    ),
  ],
  [
    'api-never-there',
    'deprecated-apis',
    createBundle({
      ...createManifestFileOverride({
        apiVersion: 'policy/v1beta1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
      }),
      spec: { minKubeVersion: '1.25.0' },
    }),
    createBundle({
      ...createManifestFileOverride({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
      }),
      spec: { minKubeVersion: '1.25.0' },
    }),
  ],
  [
    'no-max-openshift-version',
    'community',
    createBundleOwningFooCrd({}, createCrd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1')),
    createBundleOwningFooCrd(
      {
        files: {
          'metadata/properties.yaml': { properties: [{ type: 'olm.maxOpenShiftVersion', value: '4.8' }] },
        },
      },
      createCrd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1'),
    ),
  ],
  [
    'platform-nowhere-scheduled',
    'multiarch',
    createBundle({
      metadata: { labels: { 'operatorframework.io/arch.s390x': 'supported' } },
      spec: createDeploymentInstallSpec({
        containers: [validContainer],
        affinity: nodeAffinityBuilders.onlyOn('kubernetes.io/arch', 'amd64'),
      }),
    }),
    createBundle({
      metadata: { labels: { 'operatorframework.io/arch.s390x': 'supported' } },
      spec: createDeploymentInstallSpec({
        containers: [validContainer],
        affinity: nodeAffinityBuilders.onlyOn('kubernetes.io/os', 'linux'),
      }),
    }),
  ],
  [
    'blocking-disruption-budget',
    'objects',
    createBundle(
      createManifestFileOverride({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { maxUnavailable: 0 },
      }),
    ),
    createBundle(
      createManifestFileOverride({
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
    createBundle(
      createManifestFileOverride({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'p' },
        globalDefault: true,
      }),
    ),
    createBundle(
      createManifestFileOverride({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'p' },
      }),
    ),
  ],
  [
    'risky-permission',
    'objects',
    createBundle(
      createManifestFileOverride(
        createClusterRole({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['update'] }),
      ),
    ),
    createBundle(
      createManifestFileOverride(
        createClusterRole({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get'] }),
      ),
    ),
  ],
  [
    'risky-permission',
    'objects',
    createBundle(
      createManifestFileOverride(
        createClusterRole({
          apiGroups: ['security.openshift.io'],
          resources: ['securitycontextconstraints'],
          verbs: ['*'],
          resourceNames: ['anyuid'],
        }),
      ),
    ),
    createBundle(
      createManifestFileOverride(
        createClusterRole({
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
    createBundle({
      metadata: { annotations: featureAnnotations },
      spec: createDeploymentInstallSpec({
        containers: [{ ...validContainer, env: [{ name: 'RELATED_IMAGE_A', value: 'quay.io/a/b:1' }] }],
      }),
    }),
    createBundle({
      metadata: { annotations: featureAnnotations },
      spec: {
        ...createDeploymentInstallSpec({
          containers: [{ ...validContainer, env: [{ name: 'RELATED_IMAGE_A', value: 'quay.io/a/b:1' }] }],
        }),
        relatedImages: [{ name: 'b', image: 'quay.io/a/b:1' }],
      },
    }),
  ],
  [
    'missing-feature-annotation',
    'openshift',
    createBundle({
      metadata: { annotations: { ...featureAnnotations, 'features.operators.openshift.io/cni': 'maybe' } },
    }),
    createBundle({ metadata: { annotations: featureAnnotations } }),
  ],
]

function createOperatorHubBundle() {
  const whole = {
    provider: { name: 'P' },
    minKubeVersion: '1.25.0',
    icon: [{ base64data: 'AAAA', mediatype: 'image/png' }],
    maintainers: [{ name: 'M', email: 'm@example.com' }],
    links: [{ name: 'L', url: 'https://l.example' }],
  }
  const good = createBundle({
    spec: whole,
    metadata: { annotations: { capabilities: 'Basic Install', categories: 'Database, Security' } },
  })
  const change = (spec: object, metadata: object = {}) =>
    createBundle({ spec: { ...whole, ...spec }, metadata: { annotations: metadata } })
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

describe('rules about the content of a bundle', () => {
  test.each(contentRuleCases)('%s (%s)', (rule, suite, bad, good) => {
    expect(findReportedRules(bad, suite && [suite])).toEqual([rule])
    expect(findReportedRules(good, suite && [suite])).toEqual([])
  })
  test('report nothing from a suite that is not requested', () => {
    for (const [rule, suite, bad] of contentRuleCases)
      if (suite !== undefined) expect({ rule, woken: findReportedRules(bad) }).toEqual({ rule, woken: [] })
  })
  test('each rule belongs to the suite that enables it', () => {
    for (const [rule, suite] of contentRuleCases)
      expect({ rule, suite }).toEqual({ rule, suite: suiteByBundleRuleId.get(rule) })
  })
  test('a finding points at the line in the file', () => {
    const yaml =
      'apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: a.v1.0.0\nspec:\n  displayName: A\n  install: { strategy: deployment }\n  installModes: [{ type: AllNamespaces, supported: true }]\n  minKubeVersion: one\n'
    const { findings } = validateBundle(createBundle({ files: { 'manifests/csv.yaml': yaml } }))
    expect(findings.map(({ rule, at }) => ({ rule, at }))).toEqual([
      {
        rule: 'unparsable-min-kube-version',
        at: { file: 'manifests/csv.yaml', line: 9, column: 3, endLine: 9, endColumn: 22 },
      },
    ])
  })
})

describe('labels of the image', () => {
  const labels = { [bundleAnnotationKeys.mediaType]: 'registry+v1', [bundleAnnotationKeys.channels]: 'alpha' }
  const wokenBy = (given: BundleFiles) =>
    validateBundle(given, { labels }).findings.map(({ rule, data }) => ({ rule, data }))
  test('that differ from the file are reported, and the file takes precedence', () => {
    expect(wokenBy(createBundle())).toEqual([
      {
        rule: 'labels-disagree',
        data: { key: bundleAnnotationKeys.channels, label: 'alpha', annotation: 'stable' },
      },
    ])
  })
  test('replace a missing file, but opm still rejects the bundle', () => {
    expect([
      ...new Set(
        wokenBy(createBundle({ files: { 'metadata/annotations.yaml': undefined } })).map(({ rule }) => rule),
      ),
    ]).toEqual(['unreadable-bundle', 'missing-bundle-annotation'])
  })
})

describe('each defect triggers only its own rule', () => {
  test.each(invalidBundleCases)('%s', (rule, given) => {
    expect(findReportedRules(given)).toEqual([rule])
  })
})
