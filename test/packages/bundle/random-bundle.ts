// Bundles of random shapes, for holding our renderer beside opm's: mostly sound, now and then odd in one place.
import fc from '../../seeded.ts'
import { bundleAnnotationKeys } from '../../../packages/bundle/src/bundle-metadata.ts'

type UnknownValue = unknown
type UnknownArbitrary = fc.Arbitrary<UnknownValue>

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

/** An object that has each field or not. */
const optionalFieldsArbitrary = (fields: Record<string, UnknownArbitrary>): UnknownArbitrary =>
  fc.record(fields, { requiredKeys: [] })
const shortArrayArbitrary = (item: UnknownArbitrary): UnknownArbitrary => fc.array(item, { maxLength: 3 })
/** Mostly `value`; seldom what its place does not allow. */
const weightedArbitrary = (value: UnknownArbitrary, odd: UnknownArbitrary): UnknownArbitrary =>
  fc.oneof({ weight: 300, arbitrary: value }, { weight: 1, arbitrary: odd })
const nullableArbitrary = (value: UnknownArbitrary): UnknownArbitrary =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })

const textArbitrary = weightedArbitrary(wordArbitrary, jsonArbitrary)
const apiGroupArbitrary = fc.constantFrom('g.example.com', 'h.example.com', 'g')
const apiVersionArbitrary = fc.constantFrom('v1', 'v1beta1', 'v2')
const kindArbitrary = fc.constantFrom('Foo', 'Bar')
const gvkArbitrary = optionalFieldsArbitrary({
  group: apiGroupArbitrary,
  version: apiVersionArbitrary,
  kind: kindArbitrary,
})

const descriptorArbitrary = optionalFieldsArbitrary({
  path: textArbitrary,
  displayName: textArbitrary,
  description: textArbitrary,
  'x-descriptors': shortArrayArbitrary(wordArbitrary),
  value: jsonArbitrary,
})
const descriptionFields = {
  displayName: textArbitrary,
  description: textArbitrary,
  resources: shortArrayArbitrary(
    optionalFieldsArbitrary({ kind: textArbitrary, name: textArbitrary, version: textArbitrary }),
  ),
  specDescriptors: shortArrayArbitrary(descriptorArbitrary),
  statusDescriptors: shortArrayArbitrary(descriptorArbitrary),
  actionDescriptors: shortArrayArbitrary(descriptorArbitrary),
  unknown: jsonArbitrary,
}
const crdNameArbitrary = weightedArbitrary(
  fc.constantFrom('foos.g.example.com', 'bars.h.example.com'),
  fc.constantFrom('foos', '', '.'),
)
const requiredCrdArbitrary = fc.record(
  { name: crdNameArbitrary, version: apiVersionArbitrary, kind: kindArbitrary, ...descriptionFields },
  { requiredKeys: ['name'] },
)
const apiServiceArbitrary = optionalFieldsArbitrary({
  name: textArbitrary,
  group: apiGroupArbitrary,
  version: apiVersionArbitrary,
  kind: kindArbitrary,
  deploymentName: textArbitrary,
  containerPort: weightedArbitrary(fc.integer({ min: 0, max: 65_535 }), jsonArbitrary),
  ...descriptionFields,
})
const containerArbitrary = optionalFieldsArbitrary({
  name: wordArbitrary,
  image: imageArbitrary,
  env: shortArrayArbitrary(fc.record({ name: fc.constant('RELATED_IMAGE_X'), value: imageArbitrary })),
})
const deploymentArbitrary = fc.record({
  name: wordArbitrary,
  spec: optionalFieldsArbitrary({
    replicas: fc.integer({ min: 0, max: 3 }),
    template: optionalFieldsArbitrary({
      spec: optionalFieldsArbitrary({
        containers: shortArrayArbitrary(containerArbitrary),
        initContainers: shortArrayArbitrary(containerArbitrary),
      }),
    }),
  }),
})
const bundlePropertyArbitrary = weightedArbitrary(
  fc.oneof(
    fc.record({ type: fc.constantFrom('custom', 'zzz', 'olm.maxOpenShiftVersion'), value: jsonArbitrary }),
    fc.record({ type: fc.constant('olm.gvk'), value: gvkArbitrary }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFieldsArbitrary({
        packageName: wordArbitrary,
        version: fc.constantFrom('1.0.0', '2.0.0'),
        release: wordArbitrary,
        more: wordArbitrary,
      }),
    }),
  ),
  fc.oneof(
    optionalFieldsArbitrary({ type: jsonArbitrary, value: jsonArbitrary }),
    fc.record({ type: fc.constant('olm.gvk'), value: jsonArbitrary }),
  ),
)
const dependencyArbitrary = weightedArbitrary(
  fc.oneof(
    fc.record({ type: fc.constant('olm.gvk'), value: gvkArbitrary }),
    fc.record({
      type: fc.constant('olm.package'),
      value: optionalFieldsArbitrary({
        packageName: wordArbitrary,
        version: fc.constantFrom('>1.0.0', '1.x'),
      }),
    }),
    fc.record({ type: fc.constant('olm.label'), value: optionalFieldsArbitrary({ label: wordArbitrary }) }),
    fc.record({ type: fc.constant('olm.constraint'), value: jsonArbitrary }),
  ),
  fc.oneof(
    optionalFieldsArbitrary({ type: jsonArbitrary, value: jsonArbitrary }),
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
      version: weightedArbitrary(
        fc.constantFrom('1.0.0', '1.0.0-rc.1', '1.0.0+b', '2.0.0-alpha'),
        jsonArbitrary,
      ),
      release: weightedArbitrary(fc.constantFrom('1', '2.b', ''), fc.constantFrom(1, 2.5, true, null)),
      displayName: textArbitrary,
      description: textArbitrary,
      maturity: textArbitrary,
      minKubeVersion: textArbitrary,
      replaces: textArbitrary,
      skips: shortArrayArbitrary(wordArbitrary),
      keywords: shortArrayArbitrary(wordArbitrary),
      maintainers: shortArrayArbitrary(
        optionalFieldsArbitrary({ name: textArbitrary, email: textArbitrary }),
      ),
      provider: optionalFieldsArbitrary({ name: textArbitrary, url: textArbitrary }),
      links: shortArrayArbitrary(optionalFieldsArbitrary({ name: textArbitrary, url: textArbitrary })),
      icon: shortArrayArbitrary(
        optionalFieldsArbitrary({ base64data: fc.constant('AAAA'), mediatype: fc.constant('image/png') }),
      ),
      installModes: shortArrayArbitrary(
        optionalFieldsArbitrary({
          type: fc.constantFrom('AllNamespaces', 'OwnNamespace'),
          supported: weightedArbitrary(fc.boolean(), scalarArbitrary),
        }),
      ),
      nativeAPIs: shortArrayArbitrary(gvkArbitrary),
      labels: fc.dictionary(wordArbitrary, wordArbitrary, { maxKeys: 2 }),
      relatedImages: shortArrayArbitrary(
        optionalFieldsArbitrary({
          name: textArbitrary,
          image: weightedArbitrary(imageArbitrary, jsonArbitrary),
          other: jsonArbitrary,
        }),
      ),
      install: optionalFieldsArbitrary({
        strategy: fc.constantFrom('deployment', 'deployment', 'other'),
        spec: optionalFieldsArbitrary({
          deployments: shortArrayArbitrary(deploymentArbitrary),
          permissions: shortArrayArbitrary(optionalFieldsArbitrary({ serviceAccountName: wordArbitrary })),
        }),
      }),
      webhookdefinitions: shortArrayArbitrary(
        optionalFieldsArbitrary({
          type: fc.constant('ConversionWebhook'),
          generateName: wordArbitrary,
          deploymentName: wordArbitrary,
          conversionCRDs: shortArrayArbitrary(wordArbitrary),
          sideEffects: fc.constant('None'),
        }),
      ),
      customresourcedefinitions: optionalFieldsArbitrary({
        owned: fc.oneof(
          fc.subarray([...ownedCrdDescriptions]),
          fc.array(weightedArbitrary(fc.constantFrom(...ownedCrdDescriptions), requiredCrdArbitrary), {
            maxLength: 2,
          }),
        ),
        required: shortArrayArbitrary(requiredCrdArbitrary),
      }),
      apiservicedefinitions: optionalFieldsArbitrary({
        owned: shortArrayArbitrary(apiServiceArbitrary),
        required: shortArrayArbitrary(apiServiceArbitrary),
      }),
      unknown: jsonArbitrary,
    },
    { requiredKeys: ['version'] },
  )
  .chain((whole) => nullableArbitrary(fc.constant(whole)))

const createCrdArbitrary = (apiVersion: string): UnknownArbitrary =>
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
            served: weightedArbitrary(fc.boolean(), jsonArbitrary),
            storage: fc.boolean(),
            schema: fc.record({
              openAPIV3Schema: optionalFieldsArbitrary({
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
    labels: nullableArbitrary(
      fc.dictionary(wordArbitrary, weightedArbitrary(wordArbitrary, scalarArbitrary), { maxKeys: 2 }),
    ),
    annotations: nullableArbitrary(
      fc.record(
        {
          'olm.properties': fc.oneof(
            fc.array(bundlePropertyArbitrary, { maxLength: 3 }).map((list) => JSON.stringify(list)),
            fc.constantFrom('', '[', '{}', 'null', '[{"type":"a","value": {"b" : 1.0}}]'),
          ),
          capabilities: weightedArbitrary(wordArbitrary, scalarArbitrary),
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
    apiVersion: weightedArbitrary(fc.constant('operators.coreos.com/v1alpha1'), fc.constantFrom('v1', '')),
    kind: fc.constant('ClusterServiceVersion'),
    metadata: csvMetadataArbitrary,
    spec: csvSpecArbitrary,
    status: optionalFieldsArbitrary({ phase: wordArbitrary }),
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
    [bundleAnnotationKeys.package]: weightedArbitrary(fc.constant('pack'), scalarArbitrary),
    [bundleAnnotationKeys.channels]: weightedArbitrary(fc.constantFrom('stable', 'a,b'), scalarArbitrary),
    [bundleAnnotationKeys.defaultChannel]: weightedArbitrary(fc.constant('stable'), scalarArbitrary),
  },
  { requiredKeys: [bundleAnnotationKeys.mediaType] },
)
const metadataFilesArbitrary = fc.record(
  {
    'metadata/annotations.yaml': weightedArbitrary(
      fc.record({ annotations: annotationsArbitrary }),
      jsonArbitrary,
    ),
    'metadata/dependencies.yaml': weightedArbitrary(
      fc.record({ dependencies: nullableArbitrary(shortArrayArbitrary(dependencyArbitrary)) }),
      jsonArbitrary,
    ),
    'metadata/properties.yaml': weightedArbitrary(
      fc.record({ properties: nullableArbitrary(shortArrayArbitrary(bundlePropertyArbitrary)) }),
      jsonArbitrary,
    ),
    'metadata/other.yaml': weightedArbitrary(
      fc.record({
        annotations: annotationsArbitrary,
        properties: shortArrayArbitrary(bundlePropertyArbitrary),
      }),
      jsonArbitrary,
    ),
  },
  { requiredKeys: ['metadata/annotations.yaml'] },
)

/** Path to text: the files of a bundle. */
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
