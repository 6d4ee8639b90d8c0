// Random bundles to compare our renderer with that of opm: usually valid, some with one unusual value.
import fc from '../../seeded.ts'
import { bundleAnnotationKeys } from '../../../packages/bundle/src/bundle-metadata.ts'

type UnknownValue = unknown
export type AnyValueArbitrary = fc.Arbitrary<UnknownValue>

const wordArbitrary = fc.constantFrom('a', 'foo', 'Bar', 'x-y', 'é😀', '<&>', 'line\nbreak', '"q"', ' ')
const imageArbitrary = fc.constantFrom(
  'quay.io/a/b:1',
  'quay.io/a/c:1',
  'quay.io/z/b@sha256:' + '0'.repeat(64),
  'x',
)
const scalarArbitrary = fc.oneof(
  wordArbitrary,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(1.5, 1e21, -0.25),
)
const jsonArbitrary = fc.letrec<{ any: UnknownValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalarArbitrary,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(wordArbitrary, tie('any'), { maxKeys: 3 }),
  ),
})).any

/** An object in which each field is present at random. */
export const optionalFields = (fields: Record<string, AnyValueArbitrary>): AnyValueArbitrary =>
  fc.record(fields, { requiredKeys: [] })
export const shortArray = (item: AnyValueArbitrary, maxLength = 3): fc.Arbitrary<unknown[]> =>
  fc.array(item, { maxLength })
/** Generates the usual value, and once in `weight + 1` cases the rare one, which may not be allowed there. */
export const withRareValue =
  (weight: number) =>
  (usual: AnyValueArbitrary, rare: AnyValueArbitrary): AnyValueArbitrary =>
    fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare })
const usually = withRareValue(300)
const createNullableArbitrary = (value: AnyValueArbitrary) => withRareValue(12)(value, fc.constant(null))

const textArbitrary = usually(wordArbitrary, jsonArbitrary)
const apiGroupArbitrary = fc.constantFrom('g.example.com', 'h.example.com', 'g')
const apiVersionArbitrary = fc.constantFrom('v1', 'v1beta1', 'v2')
const kindArbitrary = fc.constantFrom('Foo', 'Bar')
const gvkArbitrary = optionalFields({
  group: apiGroupArbitrary,
  version: apiVersionArbitrary,
  kind: kindArbitrary,
})

const descriptorArbitrary = optionalFields({
  path: textArbitrary,
  displayName: textArbitrary,
  description: textArbitrary,
  'x-descriptors': shortArray(wordArbitrary),
  value: jsonArbitrary,
})
const apiDescriptionFieldArbitraries = {
  displayName: textArbitrary,
  description: textArbitrary,
  resources: shortArray(optionalFields({ kind: textArbitrary, name: textArbitrary, version: textArbitrary })),
  specDescriptors: shortArray(descriptorArbitrary),
  statusDescriptors: shortArray(descriptorArbitrary),
  actionDescriptors: shortArray(descriptorArbitrary),
  unknown: jsonArbitrary,
}
const crdNameArbitrary = usually(
  fc.constantFrom('foos.g.example.com', 'bars.h.example.com'),
  fc.constantFrom('foos', '', '.'),
)
const requiredCrdArbitrary = fc.record(
  {
    name: crdNameArbitrary,
    version: apiVersionArbitrary,
    kind: kindArbitrary,
    ...apiDescriptionFieldArbitraries,
  },
  { requiredKeys: ['name'] },
)
const apiServiceArbitrary = optionalFields({
  name: textArbitrary,
  group: apiGroupArbitrary,
  version: apiVersionArbitrary,
  kind: kindArbitrary,
  deploymentName: textArbitrary,
  containerPort: usually(fc.integer({ min: 0, max: 65_535 }), jsonArbitrary),
  ...apiDescriptionFieldArbitraries,
})
const containerArbitrary = optionalFields({
  name: wordArbitrary,
  image: imageArbitrary,
  env: shortArray(fc.record({ name: fc.constant('RELATED_IMAGE_X'), value: imageArbitrary })),
})
const deploymentArbitrary = fc.record({
  name: wordArbitrary,
  spec: optionalFields({
    replicas: fc.integer({ min: 0, max: 3 }),
    template: optionalFields({
      spec: optionalFields({
        containers: shortArray(containerArbitrary),
        initContainers: shortArray(containerArbitrary),
      }),
    }),
  }),
})
const bundlePropertyArbitrary = usually(
  fc.oneof(
    fc.record({ type: fc.constantFrom('custom', 'zzz', 'olm.maxOpenShiftVersion'), value: jsonArbitrary }),
    fc.record({ type: fc.constant('olm.gvk'), value: gvkArbitrary }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFields({
        packageName: wordArbitrary,
        version: fc.constantFrom('1.0.0', '2.0.0'),
        release: wordArbitrary,
        more: wordArbitrary,
      }),
    }),
  ),
  fc.oneof(
    optionalFields({ type: jsonArbitrary, value: jsonArbitrary }),
    fc.record({ type: fc.constant('olm.gvk'), value: jsonArbitrary }),
  ),
)
const dependencyArbitrary = usually(
  fc.oneof(
    fc.record({ type: fc.constant('olm.gvk'), value: gvkArbitrary }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFields({ packageName: wordArbitrary, version: fc.constantFrom('>1.0.0', '1.x') }),
    }),
    fc.record({ type: fc.constant('olm.label'), value: optionalFields({ label: wordArbitrary }) }),
    fc.record({ type: fc.constant('olm.constraint'), value: jsonArbitrary }),
  ),
  fc.oneof(
    optionalFields({ type: jsonArbitrary, value: jsonArbitrary }),
    fc.record({ type: fc.constant('olm.package'), value: jsonArbitrary }),
  ),
)

const ownedCrdDescriptions: readonly UnknownValue[] = [
  { name: 'foos.g.example.com', version: 'v1', kind: 'Foo' },
  { name: 'foos.g.example.com', version: 'v1beta1', kind: 'Foo', displayName: 'D' },
]
const csvSpecArbitrary = fc
  .record(
    {
      version: usually(fc.constantFrom('1.0.0', '1.0.0-rc.1', '1.0.0+b', '2.0.0-alpha'), jsonArbitrary),
      release: usually(fc.constantFrom('1', '2.b', ''), fc.constantFrom(1, 2.5, true, null)),
      displayName: textArbitrary,
      description: textArbitrary,
      maturity: textArbitrary,
      minKubeVersion: textArbitrary,
      replaces: textArbitrary,
      skips: shortArray(wordArbitrary),
      keywords: shortArray(wordArbitrary),
      maintainers: shortArray(optionalFields({ name: textArbitrary, email: textArbitrary })),
      provider: optionalFields({ name: textArbitrary, url: textArbitrary }),
      links: shortArray(optionalFields({ name: textArbitrary, url: textArbitrary })),
      icon: shortArray(
        optionalFields({ base64data: fc.constant('AAAA'), mediatype: fc.constant('image/png') }),
      ),
      installModes: shortArray(
        optionalFields({
          type: fc.constantFrom('AllNamespaces', 'OwnNamespace'),
          supported: usually(fc.boolean(), scalarArbitrary),
        }),
      ),
      nativeAPIs: shortArray(gvkArbitrary),
      labels: fc.dictionary(wordArbitrary, wordArbitrary, { maxKeys: 2 }),
      relatedImages: shortArray(
        optionalFields({
          name: textArbitrary,
          image: usually(imageArbitrary, jsonArbitrary),
          other: jsonArbitrary,
        }),
      ),
      install: optionalFields({
        strategy: fc.constantFrom('deployment', 'deployment', 'other'),
        spec: optionalFields({
          deployments: shortArray(deploymentArbitrary),
          permissions: shortArray(optionalFields({ serviceAccountName: wordArbitrary })),
        }),
      }),
      webhookdefinitions: shortArray(
        optionalFields({
          type: fc.constant('ConversionWebhook'),
          generateName: wordArbitrary,
          deploymentName: wordArbitrary,
          conversionCRDs: shortArray(wordArbitrary),
          sideEffects: fc.constant('None'),
        }),
      ),
      customresourcedefinitions: optionalFields({
        owned: fc.oneof(
          fc.subarray([...ownedCrdDescriptions]),
          fc.array(usually(fc.constantFrom(...ownedCrdDescriptions), requiredCrdArbitrary), { maxLength: 2 }),
        ),
        required: shortArray(requiredCrdArbitrary),
      }),
      apiservicedefinitions: optionalFields({
        owned: shortArray(apiServiceArbitrary),
        required: shortArray(apiServiceArbitrary),
      }),
      unknown: jsonArbitrary,
    },
    { requiredKeys: ['version'] },
  )
  .chain((whole) => createNullableArbitrary(fc.constant(whole)))

const createCrdArbitrary = (apiVersion: string): AnyValueArbitrary =>
  fc.record({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant('CustomResourceDefinition'),
    metadata: fc.record({ name: wordArbitrary }),
    spec: fc.record(
      {
        group: apiGroupArbitrary,
        ...(apiVersion.endsWith('beta1') && { version: apiVersionArbitrary }),
        names: fc.record({ kind: kindArbitrary, plural: fc.constantFrom('foos', 'bars') }),
        scope: fc.constant('Namespaced'),
        versions: fc.array(
          fc.record({
            name: apiVersionArbitrary,
            served: usually(fc.boolean(), jsonArbitrary),
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

const csvMetadataArbitrary = fc.record(
  {
    name: fc.constant('bundle.v1.0.0'),
    namespace: wordArbitrary,
    labels: createNullableArbitrary(
      fc.dictionary(wordArbitrary, usually(wordArbitrary, scalarArbitrary), { maxKeys: 2 }),
    ),
    annotations: createNullableArbitrary(
      fc.record(
        {
          'olm.properties': fc.oneof(
            fc.array(bundlePropertyArbitrary, { maxLength: 3 }).map((list) => JSON.stringify(list)),
            fc.constantFrom('', '[', '{}', 'null', '[{"type":"a","value": {"b" : 1.0}}]'),
          ),
          capabilities: usually(wordArbitrary, scalarArbitrary),
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
const csvArbitrary = fc.record(
  {
    apiVersion: usually(fc.constant('operators.coreos.com/v1alpha1'), fc.constantFrom('v1', '')),
    kind: fc.constant('ClusterServiceVersion'),
    metadata: csvMetadataArbitrary,
    spec: csvSpecArbitrary,
    status: optionalFields({ phase: wordArbitrary }),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
)
const manifestArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<UnknownValue>(createFooCrd('v1'), createFooCrd('v1beta1')) },
  { weight: 2, arbitrary: createCrdArbitrary('apiextensions.k8s.io/v1') },
  { weight: 2, arbitrary: createCrdArbitrary('apiextensions.k8s.io/v1beta1') },
  { weight: 1, arbitrary: createCrdArbitrary('apiextensions.k8s.io/v2') },
  {
    weight: 4,
    arbitrary: fc.record({
      apiVersion: fc.constant('v1'),
      kind: fc.constant('ConfigMap'),
      metadata: fc.record({ name: wordArbitrary }),
      data: jsonArbitrary,
    }),
  },
  { weight: 1, arbitrary: jsonArbitrary },
  { weight: 1, arbitrary: csvArbitrary },
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
const annotationsArbitrary = fc.record(
  {
    [bundleAnnotationKeys.mediaType]: fc.constant('registry+v1'),
    [bundleAnnotationKeys.package]: usually(fc.constant('pack'), scalarArbitrary),
    [bundleAnnotationKeys.channels]: usually(fc.constantFrom('stable', 'a,b'), scalarArbitrary),
    [bundleAnnotationKeys.defaultChannel]: usually(fc.constant('stable'), scalarArbitrary),
  },
  { requiredKeys: [bundleAnnotationKeys.mediaType] },
)
const metadataFilesArbitrary = fc.record(
  {
    'metadata/annotations.yaml': usually(fc.record({ annotations: annotationsArbitrary }), jsonArbitrary),
    'metadata/dependencies.yaml': usually(
      fc.record({ dependencies: createNullableArbitrary(shortArray(dependencyArbitrary)) }),
      jsonArbitrary,
    ),
    'metadata/properties.yaml': usually(
      fc.record({ properties: createNullableArbitrary(shortArray(bundlePropertyArbitrary)) }),
      jsonArbitrary,
    ),
    'metadata/other.yaml': usually(
      fc.record({ annotations: annotationsArbitrary, properties: shortArray(bundlePropertyArbitrary) }),
      jsonArbitrary,
    ),
  },
  { requiredKeys: ['metadata/annotations.yaml'] },
)

/** The files of a bundle, as text by path. */
export const bundleArbitrary: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .record({
    csv: csvArbitrary,
    manifests: fc.array(manifestArbitrary, { maxLength: 3 }),
    metadataFiles: metadataFilesArbitrary,
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
