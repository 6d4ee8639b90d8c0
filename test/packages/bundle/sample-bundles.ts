// Many kinds of bundles, built in memory. Each name describes the special property of its bundle.
import { bundleAnnotationKeys } from '../../../packages/bundle/src/bundle-metadata.ts'
import type { BundleFiles } from '../../../packages/bundle/src/bundle-files.ts'

export interface SampleBundle {
  readonly csv?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly spec?: Record<string, unknown>
  /** Additional files by path: text, or data that is written as JSON. */
  readonly files?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** The files of a bundle `NAME.v1.0.0` of the package `NAME`. */
export function createBundleFiles(name: string, shape: SampleBundle = {}): BundleFiles {
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: `${name}.v1.0.0`, ...shape.metadata },
    spec: { version: '1.0.0', displayName: name, ...shape.spec },
    ...shape.csv,
  }
  const annotations = {
    [bundleAnnotationKeys.mediaType]: 'registry+v1',
    [bundleAnnotationKeys.manifests]: 'manifests/',
    [bundleAnnotationKeys.metadata]: 'metadata/',
    [bundleAnnotationKeys.package]: name,
    [bundleAnnotationKeys.channels]: 'stable',
    ...shape.annotations,
  }
  const all: Record<string, unknown> = {
    'manifests/csv.yaml': csv,
    'metadata/annotations.yaml': { annotations },
    ...shape.files,
  }
  return new Map(
    Object.entries(all)
      .filter(([, content]) => content !== undefined)
      .map(([path, content]) => [
        path,
        new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content, null, 1)),
      ]),
  )
}

export function createCrd(
  plural: string,
  group: string,
  kind: string,
  versions: readonly string[],
  apiVersion = 'v1',
) {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return {
    apiVersion: `apiextensions.k8s.io/${apiVersion}`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: 'Namespaced',
      // No API server accepts the defaults of v1beta1 anymore.
      ...(apiVersion === 'v1beta1' && { preserveUnknownFields: false }),
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        ...(apiVersion === 'v1' && { schema }),
      })),
    },
  }
}

const createDeploymentInstallSpec = (containers: unknown[], initContainers: unknown[] = []) => ({
  strategy: 'deployment',
  spec: { deployments: [{ name: 'd', spec: { template: { spec: { containers, initContainers } } } }] },
})
const createOwnedCrdsSpec = (...entries: unknown[]) => ({ customresourcedefinitions: { owned: entries } })

export const sampleBundles: Readonly<Record<string, SampleBundle>> = {
  plainest: {},
  'one-crd': {
    spec: createOwnedCrdsSpec({ name: 'foos.example.com', version: 'v1', kind: 'Foo' }),
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
  },
  'crd-of-many-versions': {
    spec: createOwnedCrdsSpec({
      name: 'foos.example.com',
      version: 'v1beta1',
      kind: 'Foo',
      description: 'd',
      displayName: 'F',
    }),
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1', 'v1beta1', 'v1alpha1']) },
  },
  'crd-v1beta1': {
    spec: createOwnedCrdsSpec({ name: 'foos.example.com', version: 'v1', kind: 'Foo' }),
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1', 'v2'], 'v1beta1') },
  },
  'crd-v1beta1-single-version': {
    files: {
      'manifests/crd.yaml': {
        apiVersion: 'apiextensions.k8s.io/v1beta1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'bars.example.com' },
        spec: {
          group: 'example.com',
          version: 'v1',
          names: { kind: 'Bar', plural: 'bars' },
          scope: 'Cluster',
        },
      },
    },
  },
  'crd-not-owned': { files: { 'manifests/crd.yaml': createCrd('extras', 'example.com', 'Extra', ['v1']) } },
  'required-crds': {
    spec: {
      customresourcedefinitions: {
        required: [{ name: 'bars.deep.example.com', version: 'v1', kind: 'Bar' }],
      },
    },
  },
  'api-services': {
    spec: {
      apiservicedefinitions: {
        owned: [
          {
            group: 'g.example.com',
            version: 'v1',
            kind: 'Api',
            name: 'apis',
            deploymentName: 'd',
            containerPort: 443,
          },
        ],
        required: [{ group: 'h.example.com', version: 'v1', kind: 'Rapi', name: 'rapis' }],
      },
    },
  },
  'dependencies-of-every-type': {
    files: {
      'metadata/dependencies.yaml': {
        dependencies: [
          { type: 'olm.package', value: { packageName: 'dep', version: '>=1.0.0 <2.0.0' } },
          { type: 'olm.gvk', value: { group: 'g', version: 'v1', kind: 'K' } },
          { type: 'olm.label', value: { label: 'lab' } },
          {
            type: 'olm.constraint',
            value: { failureMessage: 'm', package: { packageName: 'p', versionRange: '<1.0.0' } },
          },
          {
            type: 'olm.constraint',
            value: { failureMessage: 'a', cel: { rule: 'properties.exists(p, p.type == "x")' } },
          },
          {
            type: 'olm.constraint',
            value: { all: { constraints: [{ gvk: { group: 'g', version: 'v1', kind: 'K' } }] } },
          },
        ],
      },
    },
  },
  'properties-file': {
    files: {
      'metadata/properties.yaml': {
        properties: [
          { type: 'zzz', value: { b: 2, a: '<&>' } },
          { type: 'aaa', value: 'text' },
          { type: 'nnn', value: null },
        ],
      },
    },
  },
  'properties-annotation': {
    metadata: {
      annotations: {
        'olm.properties':
          '[{"type":"custom","value":{"b": 1,  "a":"<x>"}},{"type":"olm.maxOpenShiftVersion","value":"4.9"}]',
      },
    },
  },
  'properties-annotation-broken': { metadata: { annotations: { 'olm.properties': '[{"type":' } } },
  'duplicate-properties': {
    files: {
      'metadata/properties.yaml': {
        properties: [
          { type: 'a', value: 1 },
          { type: 'a', value: 1 },
          { type: 'a', value: { x: 1 } },
        ],
      },
      'metadata/dependencies.yaml': {
        dependencies: [
          { type: 'olm.gvk', value: { group: 'g', version: 'v1', kind: 'K' } },
          { type: 'olm.gvk', value: { kind: 'K', group: 'g', version: 'v1' } },
        ],
      },
    },
  },
  'package-property-in-annotation': {
    metadata: {
      annotations: {
        'olm.properties': '[{"type":"olm.package","value":{"packageName":"other","version":"9.9.9"}}]',
      },
    },
  },
  'related-images-given-twice': {
    spec: {
      relatedImages: [
        { name: 'b', image: 'quay.io/z/b:1' },
        { name: 'b', image: 'quay.io/z/b:1' },
        { name: 'a', image: 'quay.io/a/a:1' },
      ],
    },
  },
  'images-of-deployments': {
    spec: {
      install: createDeploymentInstallSpec(
        [
          { name: 'c', image: 'quay.io/a/c:1' },
          { name: 'd', image: 'quay.io/a/c:1' },
        ],
        [{ name: 'i', image: 'quay.io/a/i:1' }],
      ),
      relatedImages: [{ name: 'c', image: 'quay.io/a/c:1' }],
    },
  },
  'environment-is-not-looked-at': {
    spec: {
      install: createDeploymentInstallSpec([
        { name: 'c', image: 'quay.io/a/c:1', env: [{ name: 'RELATED_IMAGE_X', value: 'quay.io/a/x:1' }] },
      ]),
    },
  },
  'other-strategy': {
    spec: {
      install: { ...createDeploymentInstallSpec([{ name: 'c', image: 'quay.io/a/c:1' }]), strategy: 'other' },
    },
  },
  'release-as-text': { spec: { release: '3' } },
  'release-as-number': { spec: { release: 4 } },
  'other-objects': {
    files: {
      'manifests/service.yaml': {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { ports: [{ port: 1 }] },
      },
      'manifests/config.yaml': {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c' },
        data: { x: '<&>\u2028é😀"\\\n\t\u0001' },
      },
    },
  },
  'several-documents': {
    files: {
      'manifests/two.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n',
    },
  },
  'files-that-are-no-manifests': {
    files: {
      'manifests/broken.yaml': 'a: [',
      'manifests/README.md': '# hello\n',
      'manifests/.hidden.yaml': '{"kind":"ConfigMap","apiVersion":"v1"}',
      'manifests/list.yaml': '- a\n',
    },
  },
  'several-csvs': {
    files: {
      'manifests/z.yaml': {
        apiVersion: 'operators.coreos.com/v1alpha1',
        kind: 'ClusterServiceVersion',
        metadata: { name: 'other.v2.0.0' },
        spec: { version: '2.0.0' },
      },
    },
  },
  'yaml-of-its-own-kind': {
    files: {
      'manifests/odd.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: odd\n  annotations: &a {x: "1"}\n  labels: *a\ndata:\n  int: 9007199254740993\n  octal: 0777\n  yes: yes\n  date: 2020-01-01\n  float: 1.0\n  big: 1e21\n  small: 1.5e-7\n  time: 12:30\n  null: ~\n  text: |\n    a\n     b\n  folded: >-\n    c\n    d\n  hex: 0x1F\n  bigger: 12345678901234567890\n',
    },
  },
  'everything-in-the-metadata': {
    metadata: {
      annotations: { capabilities: 'Basic Install', containerImage: 'quay.io/a/c:1' },
      labels: { 'operatorframework.io/arch.amd64': 'supported' },
    },
    spec: {
      description: 'Long\ntext',
      maturity: 'stable',
      minKubeVersion: '1.25.0',
      keywords: ['a', 'b'],
      provider: { name: 'P', url: 'https://p.example' },
      links: [{ name: 'L', url: 'https://l.example' }],
      maintainers: [{ name: 'M', email: 'm@example.com' }],
      icon: [{ base64data: 'AAAA', mediatype: 'image/png' }],
      installModes: [
        { type: 'OwnNamespace', supported: true },
        { type: 'AllNamespaces', supported: false },
      ],
      nativeAPIs: [{ group: 'g', version: 'v1', kind: 'K' }],
      replaces: 'x.v0.9.0',
      skips: ['x.v0.8.0'],
      ...createOwnedCrdsSpec({
        name: 'foos.example.com',
        version: 'v1',
        kind: 'Foo',
        displayName: 'Foo',
        description: 'D',
        resources: [{ kind: 'Pod', name: '', version: 'v1' }],
        specDescriptors: [
          {
            path: 'size',
            displayName: 'Size',
            description: 'S',
            'x-descriptors': ['urn:x'],
            value: { a: [1, null] },
          },
        ],
        statusDescriptors: [{ path: 'pods' }],
        actionDescriptors: [{ path: 'go' }],
      }),
    },
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
  },
  'empty-lists': {
    metadata: { annotations: {} },
    spec: {
      keywords: [],
      links: [],
      maintainers: [],
      installModes: [],
      relatedImages: [],
      customresourcedefinitions: { owned: [] },
      provider: {},
    },
  },
  'annotations-in-another-file': {
    files: {
      'metadata/annotations.yaml': undefined,
      'metadata/bundle.yaml': {
        annotations: { [bundleAnnotationKeys.package]: 'annotations-in-another-file' },
      },
    },
  },
  'pre-release-version': {
    spec: { version: '2.0.0-rc.1+build.7', replaces: 'x.v1.9.0', skips: ['x.v1.8.0'] },
  },
  'skip-range-and-channels': {
    metadata: { annotations: { 'olm.skipRange': '>=1.0.0 <2.0.0', 'olm.substitutesFor': 'x.v0.1.0' } },
    annotations: {
      [bundleAnnotationKeys.channels]: 'stable,fast,candidate',
      [bundleAnnotationKeys.defaultChannel]: 'fast',
    },
  },
  webhooks: {
    spec: {
      install: createDeploymentInstallSpec([{ name: 'c', image: 'quay.io/a/c:1' }]),
      webhookdefinitions: [
        {
          type: 'ConversionWebhook',
          generateName: 'foos.example.com',
          deploymentName: 'd',
          containerPort: 443,
          targetPort: 9443,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          conversionCRDs: ['foos.example.com'],
          webhookPath: '/convert',
        },
      ],
    },
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
  },
  icons: {
    spec: {
      icon: [
        { base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' },
        { base64data: 'AAAA', mediatype: 'image/png' },
      ],
    },
  },
  'big-crd': {
    files: {
      'manifests/crd.yaml': {
        ...createCrd('bigs', 'example.com', 'Big', ['v1']),
        metadata: {
          name: 'bigs.example.com',
          annotations: Object.fromEntries(
            Array.from({ length: 30_000 }, (_, index) => [`key${index}`, `a description of ${index}`]),
          ),
        },
      },
    },
  },
  'constraints-of-every-kind': {
    files: {
      'metadata/dependencies.yaml': {
        dependencies: [
          {
            type: 'olm.constraint',
            value: {
              failureMessage: 'all, any and not',
              all: {
                constraints: [
                  { any: { constraints: [{ gvk: { group: 'g', version: 'v1', kind: 'K' } }] } },
                  { not: { constraints: [{ package: { packageName: 'p', versionRange: '<1.0.0' } }] } },
                ],
              },
            },
          },
          { type: 'olm.constraint', value: { cel: { rule: 'properties.size() > 0 && "<" != ">"' } } },
        ],
      },
    },
  },
  'the-same-dependency-twice': {
    files: {
      'metadata/dependencies.yaml': {
        dependencies: [
          { type: 'olm.package', value: { packageName: 'p', version: '>1.0.0' } },
          { type: 'olm.package', value: { packageName: 'p', version: '>1.0.0' } },
          { type: 'olm.label', value: { label: 'l' } },
          { type: 'olm.label', value: { label: 'l' } },
        ],
      },
    },
  },
  'annotations-that-are-no-texts': {
    files: {
      'metadata/annotations.yaml': `annotations:\n  ${bundleAnnotationKeys.package}: annotations-that-are-no-texts\n  ${bundleAnnotationKeys.channels}: 4.10\n  ${bundleAnnotationKeys.defaultChannel}: true\n`,
    },
  },
  'hidden-metadata': {
    files: { 'metadata/.properties.yaml': { properties: [{ type: 'hidden', value: 1 }] } },
  },
  'properties-of-known-types': {
    files: {
      'metadata/properties.yaml': {
        properties: [
          { type: 'olm.gvk', value: { kind: 'K', group: 'g', version: 'v1', more: 'dropped' } },
          { type: 'olm.gvk', value: { Kind: 'K' } },
          { type: 'olm.package', value: { packageName: 'other', version: '9.9.9' } },
          { type: 'olm.maxOpenShiftVersion', value: '4.18' },
        ],
      },
    },
  },
  'json-with-blanks': {
    files: {
      'metadata/properties.yaml':
        '{"properties": [{"type": "a", "value": {"b":  1, "a": [ ]}}, {"type": "a", "value": {"a": [], "b": 1}}]}',
    },
  },
  'a-container-without-an-image': {
    spec: {
      install: createDeploymentInstallSpec([
        { name: 'c' },
        { name: 'd', image: 'quay.io/test/a-container-without-an-image:v1' },
      ]),
    },
  },
  'names-in-other-cases': {
    spec: {
      displayname: 'lower',
      relatedImages: [{ Name: 'n', IMAGE: 'quay.io/a/b:1' }],
      ...createOwnedCrdsSpec({ Name: 'foos.example.com', Version: 'v1', Kind: 'Foo', DisplayName: 'F' }),
    },
    files: { 'manifests/crd.yaml': createCrd('foos', 'example.com', 'Foo', ['v1']) },
  },
  'manifests-as-json': {
    files: {
      'manifests/config.json': {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c' },
        data: { ключ: 'значение 😀' },
      },
      'manifests/secret.yml':
        'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "\\u00e9"}\n',
    },
  },
  'a-list-of-objects': {
    files: {
      'manifests/list.yaml': {
        apiVersion: 'v1',
        kind: 'List',
        items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' } }],
      },
    },
  },
}
