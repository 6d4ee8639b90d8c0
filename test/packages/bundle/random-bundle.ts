// Bundles of random shapes, for holding our renderer beside opm's: mostly sound, now and then odd in one place.
import fc from '../../seeded.ts'
import { bundleAnnotationKeys } from '../../../packages/bundle/src/bundle-metadata.ts'

type UnknownValue = unknown
type UnknownArbitrary = fc.Arbitrary<UnknownValue>

const randomWord = fc.constantFrom('a', 'foo', 'Bar', 'x-y', 'é😀', '<&>', 'line\nbreak', '"q"', ' ')
const randomImage = fc.constantFrom(
  'quay.io/a/b:1',
  'quay.io/a/c:1',
  'quay.io/z/b@sha256:' + '0'.repeat(64),
  'x',
)
const randomScalar = fc.oneof(
  randomWord,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(1.5, 1e21, -0.25),
)
const randomJson = fc.letrec<{ any: UnknownValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    randomScalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(randomWord, tie('any'), { maxKeys: 3 }),
  ),
})).any

/** An object that has each field or not. */
const optionalFields = (fields: Record<string, UnknownArbitrary>): UnknownArbitrary =>
  fc.record(fields, { requiredKeys: [] })
const shortArrayArbitrary = (item: UnknownArbitrary): UnknownArbitrary => fc.array(item, { maxLength: 3 })
/** Mostly `value`; seldom what its place does not allow. */
const mostlyFirstArbitrary = (value: UnknownArbitrary, odd: UnknownArbitrary): UnknownArbitrary =>
  fc.oneof({ weight: 300, arbitrary: value }, { weight: 1, arbitrary: odd })
const nullableArbitrary = (value: UnknownArbitrary): UnknownArbitrary =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })

const randomText = mostlyFirstArbitrary(randomWord, randomJson)
const randomGroup = fc.constantFrom('g.example.com', 'h.example.com', 'g')
const randomApiVersion = fc.constantFrom('v1', 'v1beta1', 'v2')
const randomKind = fc.constantFrom('Foo', 'Bar')
const randomGvk = optionalFields({ group: randomGroup, version: randomApiVersion, kind: randomKind })

const randomDescriptor = optionalFields({
  path: randomText,
  displayName: randomText,
  description: randomText,
  'x-descriptors': shortArrayArbitrary(randomWord),
  value: randomJson,
})
const descriptionFields = {
  displayName: randomText,
  description: randomText,
  resources: shortArrayArbitrary(optionalFields({ kind: randomText, name: randomText, version: randomText })),
  specDescriptors: shortArrayArbitrary(randomDescriptor),
  statusDescriptors: shortArrayArbitrary(randomDescriptor),
  actionDescriptors: shortArrayArbitrary(randomDescriptor),
  unknown: randomJson,
}
const randomCrdName = mostlyFirstArbitrary(
  fc.constantFrom('foos.g.example.com', 'bars.h.example.com'),
  fc.constantFrom('foos', '', '.'),
)
const randomRequiredCrd = fc.record(
  { name: randomCrdName, version: randomApiVersion, kind: randomKind, ...descriptionFields },
  { requiredKeys: ['name'] },
)
const randomApiService = optionalFields({
  name: randomText,
  group: randomGroup,
  version: randomApiVersion,
  kind: randomKind,
  deploymentName: randomText,
  containerPort: mostlyFirstArbitrary(fc.integer({ min: 0, max: 65_535 }), randomJson),
  ...descriptionFields,
})
const randomContainer = optionalFields({
  name: randomWord,
  image: randomImage,
  env: shortArrayArbitrary(fc.record({ name: fc.constant('RELATED_IMAGE_X'), value: randomImage })),
})
const randomDeployment = fc.record({
  name: randomWord,
  spec: optionalFields({
    replicas: fc.integer({ min: 0, max: 3 }),
    template: optionalFields({
      spec: optionalFields({
        containers: shortArrayArbitrary(randomContainer),
        initContainers: shortArrayArbitrary(randomContainer),
      }),
    }),
  }),
})
const randomProperty = mostlyFirstArbitrary(
  fc.oneof(
    fc.record({ type: fc.constantFrom('custom', 'zzz', 'olm.maxOpenShiftVersion'), value: randomJson }),
    fc.record({ type: fc.constant('olm.gvk'), value: randomGvk }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFields({
        packageName: randomWord,
        version: fc.constantFrom('1.0.0', '2.0.0'),
        release: randomWord,
        more: randomWord,
      }),
    }),
  ),
  fc.oneof(
    optionalFields({ type: randomJson, value: randomJson }),
    fc.record({ type: fc.constant('olm.gvk'), value: randomJson }),
  ),
)
const randomDependency = mostlyFirstArbitrary(
  fc.oneof(
    fc.record({ type: fc.constant('olm.gvk'), value: randomGvk }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFields({ packageName: randomWord, version: fc.constantFrom('>1.0.0', '1.x') }),
    }),
    fc.record({ type: fc.constant('olm.label'), value: optionalFields({ label: randomWord }) }),
    fc.record({ type: fc.constant('olm.constraint'), value: randomJson }),
  ),
  fc.oneof(
    optionalFields({ type: randomJson, value: randomJson }),
    fc.record({ type: fc.constant('olm.package'), value: randomJson }),
  ),
)

const ownedCrdDescriptions: readonly UnknownValue[] = [
  { name: 'foos.g.example.com', version: 'v1', kind: 'Foo' },
  { name: 'foos.g.example.com', version: 'v1beta1', kind: 'Foo', displayName: 'D' },
]
const randomCsvSpec = fc
  .record(
    {
      version: mostlyFirstArbitrary(
        fc.constantFrom('1.0.0', '1.0.0-rc.1', '1.0.0+b', '2.0.0-alpha'),
        randomJson,
      ),
      release: mostlyFirstArbitrary(fc.constantFrom('1', '2.b', ''), fc.constantFrom(1, 2.5, true, null)),
      displayName: randomText,
      description: randomText,
      maturity: randomText,
      minKubeVersion: randomText,
      replaces: randomText,
      skips: shortArrayArbitrary(randomWord),
      keywords: shortArrayArbitrary(randomWord),
      maintainers: shortArrayArbitrary(optionalFields({ name: randomText, email: randomText })),
      provider: optionalFields({ name: randomText, url: randomText }),
      links: shortArrayArbitrary(optionalFields({ name: randomText, url: randomText })),
      icon: shortArrayArbitrary(
        optionalFields({ base64data: fc.constant('AAAA'), mediatype: fc.constant('image/png') }),
      ),
      installModes: shortArrayArbitrary(
        optionalFields({
          type: fc.constantFrom('AllNamespaces', 'OwnNamespace'),
          supported: mostlyFirstArbitrary(fc.boolean(), randomScalar),
        }),
      ),
      nativeAPIs: shortArrayArbitrary(randomGvk),
      labels: fc.dictionary(randomWord, randomWord, { maxKeys: 2 }),
      relatedImages: shortArrayArbitrary(
        optionalFields({
          name: randomText,
          image: mostlyFirstArbitrary(randomImage, randomJson),
          other: randomJson,
        }),
      ),
      install: optionalFields({
        strategy: fc.constantFrom('deployment', 'deployment', 'other'),
        spec: optionalFields({
          deployments: shortArrayArbitrary(randomDeployment),
          permissions: shortArrayArbitrary(optionalFields({ serviceAccountName: randomWord })),
        }),
      }),
      webhookdefinitions: shortArrayArbitrary(
        optionalFields({
          type: fc.constant('ConversionWebhook'),
          generateName: randomWord,
          deploymentName: randomWord,
          conversionCRDs: shortArrayArbitrary(randomWord),
          sideEffects: fc.constant('None'),
        }),
      ),
      customresourcedefinitions: optionalFields({
        owned: fc.oneof(
          fc.subarray([...ownedCrdDescriptions]),
          fc.array(mostlyFirstArbitrary(fc.constantFrom(...ownedCrdDescriptions), randomRequiredCrd), {
            maxLength: 2,
          }),
        ),
        required: shortArrayArbitrary(randomRequiredCrd),
      }),
      apiservicedefinitions: optionalFields({
        owned: shortArrayArbitrary(randomApiService),
        required: shortArrayArbitrary(randomApiService),
      }),
      unknown: randomJson,
    },
    { requiredKeys: ['version'] },
  )
  .chain((whole) => nullableArbitrary(fc.constant(whole)))

const randomCrd = (apiVersion: string): UnknownArbitrary =>
  fc.record({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant('CustomResourceDefinition'),
    metadata: fc.record({ name: randomWord }),
    spec: fc.record(
      {
        group: randomGroup,
        ...(apiVersion.endsWith('beta1') && { version: randomApiVersion }),
        names: fc.record({ kind: randomKind, plural: fc.constantFrom('foos', 'bars') }),
        scope: fc.constant('Namespaced'),
        versions: fc.array(
          fc.record({
            name: randomApiVersion,
            served: mostlyFirstArbitrary(fc.boolean(), randomJson),
            storage: fc.boolean(),
            schema: fc.record({
              openAPIV3Schema: optionalFields({
                type: fc.constant('object'),
                minimum: fc.constantFrom(1, 1.5),
              }),
            }),
          }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: ['group', 'names', 'scope', 'versions'] },
    ),
  })
const createFooCrd = (version: string) => ({
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

const randomCsvMetadata = fc.record(
  {
    name: fc.constant('bundle.v1.0.0'),
    namespace: randomWord,
    labels: nullableArbitrary(
      fc.dictionary(randomWord, mostlyFirstArbitrary(randomWord, randomScalar), { maxKeys: 2 }),
    ),
    annotations: nullableArbitrary(
      fc.record(
        {
          'olm.properties': fc.oneof(
            fc.array(randomProperty, { maxLength: 3 }).map((list) => JSON.stringify(list)),
            fc.constantFrom('', '[', '{}', 'null', '[{"type":"a","value": {"b" : 1.0}}]'),
          ),
          capabilities: mostlyFirstArbitrary(randomWord, randomScalar),
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
const randomCsv = fc.record(
  {
    apiVersion: mostlyFirstArbitrary(fc.constant('operators.coreos.com/v1alpha1'), fc.constantFrom('v1', '')),
    kind: fc.constant('ClusterServiceVersion'),
    metadata: randomCsvMetadata,
    spec: randomCsvSpec,
    status: optionalFields({ phase: randomWord }),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
)
const randomManifest = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<UnknownValue>(createFooCrd('v1'), createFooCrd('v1beta1')) },
  { weight: 2, arbitrary: randomCrd('apiextensions.k8s.io/v1') },
  { weight: 2, arbitrary: randomCrd('apiextensions.k8s.io/v1beta1') },
  { weight: 1, arbitrary: randomCrd('apiextensions.k8s.io/v2') },
  {
    weight: 4,
    arbitrary: fc.record({
      apiVersion: fc.constant('v1'),
      kind: fc.constant('ConfigMap'),
      metadata: fc.record({ name: randomWord }),
      data: randomJson,
    }),
  },
  { weight: 1, arbitrary: randomJson },
  { weight: 1, arbitrary: randomCsv },
  {
    weight: 1,
    arbitrary: fc.constantFrom<UnknownValue>(
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
const randomAnnotations = fc.record(
  {
    [bundleAnnotationKeys.mediaType]: fc.constant('registry+v1'),
    [bundleAnnotationKeys.package]: mostlyFirstArbitrary(fc.constant('pack'), randomScalar),
    [bundleAnnotationKeys.channels]: mostlyFirstArbitrary(fc.constantFrom('stable', 'a,b'), randomScalar),
    [bundleAnnotationKeys.defaultChannel]: mostlyFirstArbitrary(fc.constant('stable'), randomScalar),
  },
  { requiredKeys: [bundleAnnotationKeys.mediaType] },
)
const randomMetadataFiles = fc.record(
  {
    'metadata/annotations.yaml': mostlyFirstArbitrary(
      fc.record({ annotations: randomAnnotations }),
      randomJson,
    ),
    'metadata/dependencies.yaml': mostlyFirstArbitrary(
      fc.record({ dependencies: nullableArbitrary(shortArrayArbitrary(randomDependency)) }),
      randomJson,
    ),
    'metadata/properties.yaml': mostlyFirstArbitrary(
      fc.record({ properties: nullableArbitrary(shortArrayArbitrary(randomProperty)) }),
      randomJson,
    ),
    'metadata/other.yaml': mostlyFirstArbitrary(
      fc.record({ annotations: randomAnnotations, properties: shortArrayArbitrary(randomProperty) }),
      randomJson,
    ),
  },
  { requiredKeys: ['metadata/annotations.yaml'] },
)

/** Path to text: the files of a bundle. */
export const randomBundle: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .record({
    csv: randomCsv,
    manifests: fc.array(randomManifest, { maxLength: 3 }),
    metadataFiles: randomMetadataFiles,
    crds: fc.boolean(),
  })
  .map(({ csv, manifests, metadataFiles, crds }) =>
    Object.fromEntries(
      [
        ['manifests/csv.yaml', csv] as const,
        ...(crds ? [['manifests/foos.yaml', createFooCrd('v1')] as const] : []),
        ...manifests.map((one, index) => [`manifests/${index}.yaml`, one] as const),
        ...Object.entries(metadataFiles),
      ].map(([path, data]) => [path, typeof data === 'string' ? data : JSON.stringify(data, null, 1)]),
    ),
  )
