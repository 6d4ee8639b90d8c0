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

/** Text that gzip cannot compress. */
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
const addManifest = (manifest: unknown, spec: Record<string, unknown> = {}) =>
  createBundle({ spec, files: { 'manifests/more.yaml': manifest } })
const fooCrd = createCrd('foos', 'example.com', 'Foo', ['v1'])
const fooAlmExamples = { 'alm-examples': '[{"apiVersion":"example.com/v1","kind":"Foo"}]' }
const fooApi = { name: 'foos.example.com', version: 'v1', kind: 'Foo' }
const withDependency = (type: string, value: unknown): SampleBundle => ({
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

test.each<[string, BundleFiles]>([
  ['registry+v1', createBundle()],
  [
    'registry+v1',
    createBundle({
      spec: { customresourcedefinitions: { owned: [fooApi] } },
      metadata: { annotations: fooAlmExamples },
      files: { 'manifests/crd.yaml': fooCrd },
    }),
  ],
  [
    'registry+v1',
    createBundle(withDependency('olm.constraint', { failureMessage: 'm', cel: { rule: 'true' } })),
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
])('valid bundles: %s', (format, given) => {
  expect(validateBundle(given, { packedSize: computeGzippedSize })).toEqual({ format, findings: [] })
  expect(detectBundleFormat(given)).toBe(format)
})

const featureAnnotations = Object.fromEntries(
  'disconnected fips-compliant proxy-aware cnf cni csi tls-profiles token-auth-aws token-auth-azure token-auth-gcp'
    .split(' ')
    .map((feature) => [`features.operators.openshift.io/${feature}`, 'false']),
)
const invalidBundlesByRule: Readonly<Record<string, readonly BundleFiles[]>> = {
  'unreadable-bundle': [
    toBundleFiles({}),
    createBundle({ files: { 'metadata/annotations.yaml': undefined } }),
    createBundle({ spec: { customresourcedefinitions: { owned: [fooApi] } } }),
  ],
  'undecodable-manifest': [
    createBundle({ files: { 'manifests/broken.yaml': 'rules: [' } }),
    createBundle({ files: { 'manifests/README.yaml': 'hello: there' } }),
    addManifest({ ...createConfigMap(''), apiVersion: 1 }),
    createPlainBundleFiles('kind: ConfigMap\n---\nkind: [\n'),
    createPlainBundleFiles('kind: ConfigMap\n---\nhello: there\n'),
  ],
  'several-csvs': [
    addManifest({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name: 'b' },
    }),
  ],
  'several-documents-in-manifest': [addManifest('kind: ConfigMap\nmetadata: {name: a}\n---\nkind: Secret\n')],
  'nested-bundle-directory': [createBundle({ files: { 'manifests/crds/a.yaml': 'kind: ConfigMap' } })],
  'missing-bundle-annotation': [
    createBundle({ annotations: { [bundleAnnotationKeys.channels]: '' } }),
    createBundle({ annotations: { [bundleAnnotationKeys.defaultChannel]: ' ' } }),
  ],
  'wrong-bundle-format': [
    createBundle({ annotations: { [bundleAnnotationKeys.mediaType]: 'plain+v0' } }),
    createPlainBundleFiles('kind: ConfigMap', 'helm+v3'),
  ],
  'moved-bundle-directory': [createBundle({ annotations: { [bundleAnnotationKeys.manifests]: 'deploy/' } })],
  'misnamed-annotations-file': [
    createBundle({
      files: {
        'metadata/annotations.yaml': undefined,
        'metadata/bundle.yaml': {
          annotations: {
            [bundleAnnotationKeys.mediaType]: 'registry+v1',
            [bundleAnnotationKeys.manifests]: 'manifests/',
            [bundleAnnotationKeys.metadata]: 'metadata/',
            [bundleAnnotationKeys.package]: 'good',
            [bundleAnnotationKeys.channels]: 'stable',
          },
        },
      },
    }),
  ],
  'kind-not-bundled': [
    addManifest({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }),
    addManifest({ apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor', metadata: { name: 'd' } }),
  ],
  'oversized-bundle-content': [addManifest(createConfigMap(createIncompressibleText(1_100_000)))],
  'large-bundle-content': [addManifest(createConfigMap(createIncompressibleText(920_000)))],
  'unowned-crd': [addManifest(createCrd('extras', 'example.com', 'Extra', ['v1']))],
  'malformed-dependency': [
    createBundle(withDependency('olm.package', { packageName: 'p' })),
    createBundle(withDependency('olm.package', { packageName: 'p', version: '^1.0.0' })),
    createBundle(withDependency('olm.gvk', { group: 'g', kind: 'K' })),
    createBundle(withDependency('olm.label', {})),
    createBundle(withDependency('olm.constraint', { cel: {} })),
    createBundle(withDependency('olm.constraint', { all: {}, any: {} })),
    createBundle(withDependency('olm.crd', { name: 'x' })),
  ],
  'service-account-bundled': [
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
  'unusable-install-modes': [
    createBundle({ spec: { installModes: [] } }),
    createBundle({ spec: { installModes: [{ type: 'AllNamespaces', supported: false }] } }),
    createBundle({
      spec: { installModes: [...minimalCsvSpec.installModes, ...minimalCsvSpec.installModes] },
    }),
    // A conversion webhook in a bundle that watches one namespace.
    createBundle({
      metadata: { annotations: fooAlmExamples },
      spec: {
        installModes: [{ type: 'OwnNamespace', supported: true }],
        install: { strategy: 'deployment', spec: { deployments: [{ name: 'web' }] } },
        customresourcedefinitions: { owned: [fooApi] },
        webhookdefinitions: [{ deploymentName: 'web', conversionCRDs: ['foos.example.com'] }],
      },
      files: { 'manifests/crd.yaml': fooCrd },
    }),
  ],
  'broken-examples': [
    createBundle({ metadata: { annotations: { 'alm-examples': '[{' } } }),
    createBundle({ metadata: { annotations: { 'alm-examples': '{}' } } }),
  ],
  'invalid-csv-name': [
    createBundle({ csv: { metadata: { name: 'Foo_Operator' } } }),
    createBundle({ csv: { metadata: { name: 'f'.repeat(64) } } }),
    createBundle({ spec: { replaces: 'Foo_Operator' } }),
  ],
  'hidden-bundle-file': [createBundle({ files: { 'manifests/.a.yaml': 'kind: ConfigMap' } })],
  'colliding-file-names': [
    createBundle({
      files: { 'manifests/a b.yaml': 'kind: ConfigMap\nmetadata: {name: a}', 'metadata/a-b.yaml': 'a: 1' },
    }),
  ],
  'braces-in-plain-bundle': [createPlainBundleFiles('kind: ConfigMap\ndata: {greeting: "{{ name }}"}')],
  'broken-chart': [
    createHelmBundle('apiVersion: v3\nname: foo\nversion: 1.0.0'),
    createHelmBundle('apiVersion: v2\nname: foo\nversion: one'),
    createHelmBundle(`${chartYaml}type: library`),
    createHelmBundle(`${chartYaml}dependencies: [{name: dep}]`),
    createHelmBundle(chartYaml, { 'values.yaml': 'a: [' }),
    createHelmBundle('['),
    createHelmBundle(chartYaml, { 'values.schema.json': '[]' }),
    createHelmBundle(chartYaml, { 'templates/b.yaml': 'a: {{ .Values.a' }),
    createHelmBundle(chartYaml, { 'requirements.yaml': 'dependencies: [{name: dep}]' }),
    toBundleFiles({ 'Chart.yaml': chartYaml }),
  ],
}

const ownedFooCrd = { ...fooApi, description: 'A Foo.' }
/** A bundle that owns the API Foo and has an example of it. */
const owningFoo = (shape: SampleBundle = {}, definition: unknown = fooCrd) =>
  createBundle({
    ...shape,
    metadata: { annotations: fooAlmExamples, ...shape.metadata },
    spec: { customresourcedefinitions: { owned: [ownedFooCrd] }, ...shape.spec },
    files: { 'manifests/crd.yaml': definition, ...shape.files },
  })
const withFooCrd = (change: object) => owningFoo({}, { ...fooCrd, spec: { ...fooCrd.spec, ...change } })
const createCrdVersion = (name: string, change: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...change,
})
const validContainer = { name: 'c', resources: { requests: { cpu: '1', memory: '1Gi' } } }
const deploying = (pod: object, name = 'web', more: object = {}) => ({
  install: {
    strategy: 'deployment',
    spec: { deployments: [{ name, spec: { template: { spec: pod } } }], ...more },
  },
})
const deploymentSpec = deploying({ containers: [validContainer] })
const createBundleWithPod = (pod: object, more: object = {}) =>
  createBundle({ spec: deploying({ containers: [validContainer], ...pod }, 'web', more) })
const createBundleWithWebhooks = (...webhookdefinitions: object[]) =>
  createBundle({ spec: { ...deploymentSpec, webhookdefinitions } })
const owningFooWithConversion = (crd: string) =>
  owningFoo({
    spec: {
      ...deploymentSpec,
      webhookdefinitions: [{ generateName: 'a', deploymentName: 'web', conversionCRDs: [crd] }],
    },
  })
const withAnnotations = (annotations: object) => createBundle({ metadata: { annotations } })
const createBundleWithClusterRole = (rule: object) =>
  addManifest({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'r' },
    rules: [rule],
  })
const disruptionBudget = (version: string, spec?: object) => ({
  apiVersion: `policy/${version}`,
  kind: 'PodDisruptionBudget',
  metadata: { name: 'p' },
  ...(spec && { spec }),
})
const createPriorityClass = (more: object) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'p' },
  ...more,
})
const createBundleManagingCrds = (verb: string) => {
  const rules = [{ apiGroups: ['apiextensions.k8s.io'], resources: ['*'], verbs: [verb] }]
  return createBundleWithPod({}, { permissions: [{ serviceAccountName: 'a', rules }] })
}
const createBundleForS390x = (key: string, value: string) => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }]
  return createBundle({
    metadata: { labels: { 'operatorframework.io/arch.s390x': 'supported' } },
    spec: deploying({
      containers: [validContainer],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    }),
  })
}
const createBundleWithImageVariable = (spec: object = {}) => {
  const env = [{ name: 'RELATED_IMAGE_A', value: 'quay.io/a/b:1' }]
  return createBundle({
    metadata: { annotations: featureAnnotations },
    spec: { ...deploying({ containers: [{ ...validContainer, env }] }), ...spec },
  })
}

type RuleCase = readonly [rule: string, bad: BundleFiles, good: BundleFiles]
const validBundle = createBundle()
const validCrdBundle = owningFoo()
const validDeployment = createBundle({ spec: deploymentSpec })
const validCrdDeployment = owningFoo({ spec: deploymentSpec })
const oldFooCrd = createCrd('foos', 'example.com', 'Foo', ['v1'], 'v1beta1')

const coreRuleCases: readonly RuleCase[] = [
  [
    'broken-crd',
    withFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v2')] }),
    withFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v2', { storage: false })] }),
  ],
  ['broken-crd', withFooCrd({ versions: [createCrdVersion('v1', { schema: undefined })] }), validCrdBundle],
  [
    'broken-crd',
    withFooCrd({ versions: [createCrdVersion('v1'), createCrdVersion('v1', { storage: false })] }),
    validCrdBundle,
  ],
  ['broken-crd', withFooCrd({ scope: 'Everywhere' }), withFooCrd({ scope: 'Cluster' })],
  ['duplicate-crd', owningFoo({ files: { 'manifests/more.yaml': oldFooCrd } }), validCrdBundle],
  [
    'unserved-owned-crd',
    withFooCrd({ versions: [createCrdVersion('v1', { served: false })] }),
    validCrdBundle,
  ],
  [
    'unparsable-related-image',
    createBundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/Up/per' }] } }),
    createBundle({ spec: { relatedImages: [{ name: 'a', image: 'quay.io/up/per:1' }] } }),
  ],
  ['unparsable-related-image', createBundle({ spec: { relatedImages: [{ name: 'a' }] } }), validBundle],
  [
    'name-without-release',
    createBundle({ spec: { release: '2' } }),
    createBundle({ spec: { release: '2' }, metadata: { name: 'good-v1.0.0-2' } }),
  ],
  ['missing-csv-field', createBundle({ spec: { displayName: '' } }), validBundle],
  ['missing-csv-field', createBundle({ spec: { install: undefined } }), validBundle],
  ['unknown-csv-version', createBundle({ csv: { apiVersion: 'operators.coreos.com/v2' } }), validBundle],
  [
    'example-of-other-api',
    owningFoo({
      metadata: {
        annotations: {
          'alm-examples':
            '[{"apiVersion":"example.com/v1","kind":"Foo"},{"apiVersion":"example.com/v1","kind":"Bar"}]',
        },
      },
    }),
    validCrdBundle,
  ],
  [
    'two-example-annotations',
    owningFoo({ metadata: { annotations: { ...fooAlmExamples, 'olm.examples': '[]' } } }),
    owningFoo({ metadata: { annotations: { 'olm.examples': fooAlmExamples['alm-examples'] } } }),
  ],
  [
    'misspelt-annotation',
    withAnnotations({ 'olm.skiprange': '<1.0.0' }),
    withAnnotations({ 'olm.skipRange': '<1.0.0' }),
  ],
  ['properties-in-annotation', withAnnotations({ 'olm.properties': '[]' }), validBundle],
  [
    'unparsable-min-kube-version',
    createBundle({ spec: { minKubeVersion: '1.25' } }),
    createBundle({ spec: { minKubeVersion: '1.25.0' } }),
  ],
  [
    'unknown-service-account',
    createBundleWithPod({ serviceAccountName: 'sa' }),
    createBundleWithPod(
      { serviceAccountName: 'sa' },
      { clusterPermissions: [{ serviceAccountName: 'sa', rules: [] }] },
    ),
  ],
  [
    'broken-deployment',
    createBundle({ spec: deploying({ containers: [validContainer] }, 'Web') }),
    validDeployment,
  ],
  [
    'broken-webhook',
    createBundleWithWebhooks({
      type: 'ValidatingAdmissionWebhook',
      generateName: 'a',
      deploymentName: 'gone',
    }),
    createBundleWithWebhooks({
      type: 'ValidatingAdmissionWebhook',
      generateName: 'a',
      deploymentName: 'web',
    }),
  ],
  [
    'broken-webhook',
    owningFooWithConversion('bars.example.com'),
    owningFooWithConversion('foos.example.com'),
  ],
  [
    'duplicate-webhook',
    createBundleWithWebhooks(
      { type: 'A', generateName: 'a', deploymentName: 'web' },
      { type: 'A', generateName: 'a', deploymentName: 'web' },
    ),
    createBundleWithWebhooks(
      { type: 'A', generateName: 'a', deploymentName: 'web' },
      { type: 'B', generateName: 'a', deploymentName: 'web' },
    ),
  ],
  [
    'oversized-manifest',
    addManifest(createConfigMap('a'.repeat(1_600_000))),
    addManifest(createConfigMap('a'.repeat(1_500_000))),
  ],
]
const goodPracticeCases: readonly RuleCase[] = [
  [
    'api-without-example',
    owningFoo({ metadata: { annotations: {} }, spec: deploymentSpec }),
    validCrdDeployment,
  ],
  ['no-resource-requests', createBundleWithPod({ containers: [{ name: 'c' }] }), validDeployment],
  [
    'undescribed-crd',
    owningFoo({
      spec: {
        ...deploymentSpec,
        customresourcedefinitions: { owned: [{ ...ownedFooCrd, description: '' }] },
      },
    }),
    validCrdDeployment,
  ],
  [
    'unconventional-channel',
    createBundle({ spec: deploymentSpec, annotations: { [bundleAnnotationKeys.channels]: 'stable, alpha' } }),
    createBundle({
      spec: deploymentSpec,
      annotations: { [bundleAnnotationKeys.channels]: 'stable-1.x,fast,candidate' },
    }),
  ],
  ['manages-crds', createBundleManagingCrds('patch'), createBundleManagingCrds('get')],
  [
    'unconventional-csv-name',
    createBundle({ spec: deploymentSpec, metadata: { name: 'good-1.0.0' } }),
    createBundle({ spec: deploymentSpec, metadata: { name: 'good.v1.0.0-rc.1' } }),
  ],
  [
    'no-deployment',
    createBundle({ spec: { install: { strategy: 'deployment', spec: {} } } }),
    validDeployment,
  ],
]
const deprecatedApiCases: readonly RuleCase[] = [
  ['removed-api', addManifest(disruptionBudget('v1beta1')), addManifest(disruptionBudget('v1'))],
  [
    'api-never-there',
    addManifest(disruptionBudget('v1beta1'), { minKubeVersion: '1.25.0' }),
    addManifest(disruptionBudget('v1'), { minKubeVersion: '1.25.0' }),
  ],
]
const communityCases: readonly RuleCase[] = [
  [
    'no-max-openshift-version',
    owningFoo({}, oldFooCrd),
    owningFoo(
      {
        files: {
          'metadata/properties.yaml': { properties: [{ type: 'olm.maxOpenShiftVersion', value: '4.8' }] },
        },
      },
      oldFooCrd,
    ),
  ],
]
const multiarchCases: readonly RuleCase[] = [
  [
    'platform-nowhere-scheduled',
    createBundleForS390x('kubernetes.io/arch', 'amd64'),
    createBundleForS390x('kubernetes.io/os', 'linux'),
  ],
]
const securityContextConstraints = {
  apiGroups: ['security.openshift.io'],
  resources: ['securitycontextconstraints'],
  verbs: ['*'],
}
const objectCases: readonly RuleCase[] = [
  [
    'blocking-disruption-budget',
    addManifest(disruptionBudget('v1', { maxUnavailable: 0 })),
    addManifest(disruptionBudget('v1', { maxUnavailable: 1 })),
  ],
  [
    'global-default-priority',
    addManifest(createPriorityClass({ globalDefault: true })),
    addManifest(createPriorityClass({})),
  ],
  [
    'risky-permission',
    createBundleWithClusterRole({
      apiGroups: ['policy'],
      resources: ['poddisruptionbudgets'],
      verbs: ['update'],
    }),
    createBundleWithClusterRole({
      apiGroups: ['policy'],
      resources: ['poddisruptionbudgets'],
      verbs: ['get'],
    }),
  ],
  [
    'risky-permission',
    createBundleWithClusterRole({ ...securityContextConstraints, resourceNames: ['anyuid'] }),
    createBundleWithClusterRole({ ...securityContextConstraints, resourceNames: ['mine'] }),
  ],
]
const openshiftCases: readonly RuleCase[] = [
  [
    'unrelated-image',
    createBundleWithImageVariable(),
    createBundleWithImageVariable({ relatedImages: [{ name: 'b', image: 'quay.io/a/b:1' }] }),
  ],
  [
    'missing-feature-annotation',
    withAnnotations({ ...featureAnnotations, 'features.operators.openshift.io/cni': 'maybe' }),
    withAnnotations(featureAnnotations),
  ],
]

/** For each rule about the content of a bundle: its suite, a bundle that triggers it, and a similar one that does not. */
const contentRuleCases = [
  ...addSuite(undefined, coreRuleCases),
  ...addSuite('good-practices', goodPracticeCases),
  ...createOperatorHubBundle(),
  ...addSuite('deprecated-apis', deprecatedApiCases),
  ...addSuite('community', communityCases),
  ...addSuite('multiarch', multiarchCases),
  ...addSuite('objects', objectCases),
  ...addSuite('openshift', openshiftCases),
]
function addSuite(suite: RuleSuite | undefined, cases: readonly RuleCase[]) {
  return cases.map(([rule, bad, good]) => [rule, suite, bad, good] as const)
}

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
  test.each<[string, SampleBundle]>([
    ['slashes', { annotations: { [bundleAnnotationKeys.manifests]: `${'/'.repeat(60_000)}x` } }],
    ['digits', { metadata: { name: `a.v${'0'.repeat(60_000)}x` } }],
    ['spaces', { annotations: { [bundleAnnotationKeys.channels]: `a${' '.repeat(60_000)}b` } }],
  ])('take linear time for many %s', (_, shape) => {
    const started = process.threadCpuUsage()
    findReportedRules(createBundle(shape), ['good-practices', 'operatorhub'])
    expect(process.threadCpuUsage(started).user / 1e6).toBeLessThan(5)
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
  const cases = Object.entries(invalidBundlesByRule).flatMap(([rule, bundles]) =>
    bundles.map((given) => ({ rule, given })),
  )
  test.each(cases)('$rule', ({ rule, given }) => {
    expect(findReportedRules(given)).toEqual([rule])
  })
})
