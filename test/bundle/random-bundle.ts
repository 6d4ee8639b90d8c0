// Bundles of random shapes, for holding our renderer beside opm's: mostly sound, now and then odd in one place.
import fc from '../seeded.ts'
import { annotationKeys } from '../../src/bundle/bundle-metadata.ts'

type Data = unknown
type Arbitrary = fc.Arbitrary<Data>

const word = fc.constantFrom('a', 'foo', 'Bar', 'x-y', 'é😀', '<&>', 'line\nbreak', '"q"', ' ')
const image = fc.constantFrom('quay.io/a/b:1', 'quay.io/a/c:1', 'quay.io/z/b@sha256:' + '0'.repeat(64), 'x')
const scalar = fc.oneof(
  word,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(1.5, 1e21, -0.25),
)
const anything = fc.letrec<{ any: Data }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(word, tie('any'), { maxKeys: 3 }),
  ),
})).any

/** An object that has each field or not. */
const some = (fields: Record<string, Arbitrary>): Arbitrary => fc.record(fields, { requiredKeys: [] })
const few = (item: Arbitrary): Arbitrary => fc.array(item, { maxLength: 3 })
/** Mostly `value`; seldom what its place does not allow. */
const or = (value: Arbitrary, odd: Arbitrary): Arbitrary =>
  fc.oneof({ weight: 300, arbitrary: value }, { weight: 1, arbitrary: odd })
const orNothing = (value: Arbitrary): Arbitrary =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })

const text = or(word, anything)
const group = fc.constantFrom('g.example.com', 'h.example.com', 'g')
const version = fc.constantFrom('v1', 'v1beta1', 'v2')
const kind = fc.constantFrom('Foo', 'Bar')
const gvk = some({ group, version, kind })

const descriptor = some({
  path: text,
  displayName: text,
  description: text,
  'x-descriptors': few(word),
  value: anything,
})
const description = {
  displayName: text,
  description: text,
  resources: few(some({ kind: text, name: text, version: text })),
  specDescriptors: few(descriptor),
  statusDescriptors: few(descriptor),
  actionDescriptors: few(descriptor),
  unknown: anything,
}
const crdName = or(
  fc.constantFrom('foos.g.example.com', 'bars.h.example.com'),
  fc.constantFrom('foos', '', '.'),
)
const requiredCrd = fc.record({ name: crdName, version, kind, ...description }, { requiredKeys: ['name'] })
const apiService = some({
  name: text,
  group,
  version,
  kind,
  deploymentName: text,
  containerPort: or(fc.integer({ min: 0, max: 65_535 }), anything),
  ...description,
})
const container = some({
  name: word,
  image,
  env: few(fc.record({ name: fc.constant('RELATED_IMAGE_X'), value: image })),
})
const deployment = fc.record({
  name: word,
  spec: some({
    replicas: fc.integer({ min: 0, max: 3 }),
    template: some({ spec: some({ containers: few(container), initContainers: few(container) }) }),
  }),
})
const property = or(
  fc.oneof(
    fc.record({ type: fc.constantFrom('custom', 'zzz', 'olm.maxOpenShiftVersion'), value: anything }),
    fc.record({ type: fc.constant('olm.gvk'), value: gvk }),
    fc.record({
      type: fc.constant('olm.package'),
      value: some({
        packageName: word,
        version: fc.constantFrom('1.0.0', '2.0.0'),
        release: word,
        more: word,
      }),
    }),
  ),
  fc.oneof(
    some({ type: anything, value: anything }),
    fc.record({ type: fc.constant('olm.gvk'), value: anything }),
  ),
)
const dependency = or(
  fc.oneof(
    fc.record({ type: fc.constant('olm.gvk'), value: gvk }),
    fc.record({
      type: fc.constant('olm.package'),
      value: some({ packageName: word, version: fc.constantFrom('>1.0.0', '1.x') }),
    }),
    fc.record({ type: fc.constant('olm.label'), value: some({ label: word }) }),
    fc.record({ type: fc.constant('olm.constraint'), value: anything }),
  ),
  fc.oneof(
    some({ type: anything, value: anything }),
    fc.record({ type: fc.constant('olm.package'), value: anything }),
  ),
)

const owned: readonly Data[] = [
  { name: 'foos.g.example.com', version: 'v1', kind: 'Foo' },
  { name: 'foos.g.example.com', version: 'v1beta1', kind: 'Foo', displayName: 'D' },
]
const spec = fc
  .record(
    {
      version: or(fc.constantFrom('1.0.0', '1.0.0-rc.1', '1.0.0+b', '2.0.0-alpha'), anything),
      release: or(fc.constantFrom('1', '2.b', ''), fc.constantFrom(1, 2.5, true, null)),
      displayName: text,
      description: text,
      maturity: text,
      minKubeVersion: text,
      replaces: text,
      skips: few(word),
      keywords: few(word),
      maintainers: few(some({ name: text, email: text })),
      provider: some({ name: text, url: text }),
      links: few(some({ name: text, url: text })),
      icon: few(some({ base64data: fc.constant('AAAA'), mediatype: fc.constant('image/png') })),
      installModes: few(
        some({ type: fc.constantFrom('AllNamespaces', 'OwnNamespace'), supported: or(fc.boolean(), scalar) }),
      ),
      nativeAPIs: few(gvk),
      labels: fc.dictionary(word, word, { maxKeys: 2 }),
      relatedImages: few(some({ name: text, image: or(image, anything), other: anything })),
      install: some({
        strategy: fc.constantFrom('deployment', 'deployment', 'other'),
        spec: some({ deployments: few(deployment), permissions: few(some({ serviceAccountName: word })) }),
      }),
      webhookdefinitions: few(
        some({
          type: fc.constant('ConversionWebhook'),
          generateName: word,
          deploymentName: word,
          conversionCRDs: few(word),
          sideEffects: fc.constant('None'),
        }),
      ),
      customresourcedefinitions: some({
        owned: fc.oneof(
          fc.subarray([...owned]),
          fc.array(or(fc.constantFrom(...owned), requiredCrd), { maxLength: 2 }),
        ),
        required: few(requiredCrd),
      }),
      apiservicedefinitions: some({ owned: few(apiService), required: few(apiService) }),
      unknown: anything,
    },
    { requiredKeys: ['version'] },
  )
  .chain((whole) => orNothing(fc.constant(whole)))

const crd = (apiVersion: string): Arbitrary =>
  fc.record({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant('CustomResourceDefinition'),
    metadata: fc.record({ name: word }),
    spec: fc.record(
      {
        group,
        ...(apiVersion.endsWith('beta1') && { version }),
        names: fc.record({ kind, plural: fc.constantFrom('foos', 'bars') }),
        scope: fc.constant('Namespaced'),
        versions: fc.array(
          fc.record({
            name: version,
            served: or(fc.boolean(), anything),
            storage: fc.boolean(),
            schema: fc.record({
              openAPIV3Schema: some({ type: fc.constant('object'), minimum: fc.constantFrom(1, 1.5) }),
            }),
          }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: ['group', 'names', 'scope', 'versions'] },
    ),
  })
const foos = (version: string) => ({
  apiVersion: `apiextensions.k8s.io/${version}`,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.g.example.com' },
  spec: {
    group: 'g.example.com',
    names: { kind: 'Foo', plural: 'foos' },
    scope: 'Namespaced',
    versions: ['v1', 'v1beta1'].map((name) => ({ name, served: true, storage: name === 'v1' })),
  },
})

const metadata = fc.record(
  {
    name: fc.constant('bundle.v1.0.0'),
    namespace: word,
    labels: orNothing(fc.dictionary(word, or(word, scalar), { maxKeys: 2 })),
    annotations: orNothing(
      fc.record(
        {
          'olm.properties': fc.oneof(
            fc.array(property, { maxLength: 3 }).map((list) => JSON.stringify(list)),
            fc.constantFrom('', '[', '{}', 'null', '[{"type":"a","value": {"b" : 1.0}}]'),
          ),
          capabilities: or(word, scalar),
          'olm.skipRange': fc.constant('<1.0.0'),
        },
        { requiredKeys: [] },
      ),
    ),
    creationTimestamp: fc.constantFrom(null, '2020-01-01T00:00:00Z'),
    generation: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ['name'] },
)
const csv = fc.record(
  {
    apiVersion: or(fc.constant('operators.coreos.com/v1alpha1'), fc.constantFrom('v1', '')),
    kind: fc.constant('ClusterServiceVersion'),
    metadata,
    spec,
    status: some({ phase: word }),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
)
const manifest = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Data>(foos('v1'), foos('v1beta1')) },
  { weight: 2, arbitrary: crd('apiextensions.k8s.io/v1') },
  { weight: 2, arbitrary: crd('apiextensions.k8s.io/v1beta1') },
  { weight: 1, arbitrary: crd('apiextensions.k8s.io/v2') },
  {
    weight: 4,
    arbitrary: fc.record({
      apiVersion: fc.constant('v1'),
      kind: fc.constant('ConfigMap'),
      metadata: fc.record({ name: word }),
      data: anything,
    }),
  },
  { weight: 1, arbitrary: anything },
  { weight: 1, arbitrary: csv },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Data>(
      '',
      '# nothing\n',
      'a: [',
      '---\n---\nkind: A\n',
      'kind: ConfigMap\napiVersion: v1\n---\nkind: Other\n',
      '{"kind":"ConfigMap","apiVersion":"v1"} trailing',
      'kind: ConfigMap\napiVersion: v1\ndata: {x: 0777, y: yes, z: 1.0, w: ~, v: 12345678901234567890}\n',
    ),
  },
)
const annotations = fc.record(
  {
    [annotationKeys.mediaType]: fc.constant('registry+v1'),
    [annotationKeys.package]: or(fc.constant('pack'), scalar),
    [annotationKeys.channels]: or(fc.constantFrom('stable', 'a,b'), scalar),
    [annotationKeys.defaultChannel]: or(fc.constant('stable'), scalar),
  },
  { requiredKeys: [annotationKeys.mediaType] },
)
const metadataFiles = fc.record(
  {
    'metadata/annotations.yaml': or(fc.record({ annotations }), anything),
    'metadata/dependencies.yaml': or(fc.record({ dependencies: orNothing(few(dependency)) }), anything),
    'metadata/properties.yaml': or(fc.record({ properties: orNothing(few(property)) }), anything),
    'metadata/other.yaml': or(fc.record({ annotations, properties: few(property) }), anything),
  },
  { requiredKeys: ['metadata/annotations.yaml'] },
)

/** Path to text: the files of a bundle. */
export const randomBundle: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .record({
    csv,
    manifests: fc.array(manifest, { maxLength: 3 }),
    metadataFiles,
    crds: fc.boolean(),
  })
  .map(({ csv, manifests, metadataFiles, crds }) =>
    Object.fromEntries(
      [
        ['manifests/csv.yaml', csv] as const,
        ...(crds ? [['manifests/foos.yaml', foos('v1')] as const] : []),
        ...manifests.map((one, index) => [`manifests/${index}.yaml`, one] as const),
        ...Object.entries(metadataFiles),
      ].map(([path, data]) => [path, typeof data === 'string' ? data : JSON.stringify(data, null, 1)]),
    ),
  )
