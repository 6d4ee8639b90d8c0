// Bundles with every feature that OLM v1's renderer knows, and some that it rejects.
import fc from '../../../seeded.ts'
import { bundleAnnotationKeys } from '../../../../packages/bundle/src/bundle-metadata.ts'
import { optionalFields, shortArray, withRareValue, type AnyValueArbitrary } from '../random-bundle.ts'

type RandomBundleContents = Readonly<Record<string, unknown>>

const usually = withRareValue(60)

const deploymentNameArbitrary = fc.constantFrom(
  'web',
  'web.manager',
  'a-rather-long-deployment-name-that-makes-services-overflow',
)
const serviceAccountArbitrary = fc.constantFrom('', 'default', 'web', 'builder', `a${'-long'.repeat(20)}`)
const wordArbitrary = fc.constantFrom('a', 'get', '*', '<&>', 'é😀', '"q"', '')
const nullableStringArrayArbitrary = fc.oneof(shortArray(wordArbitrary), fc.constant([]), fc.constant(null))

const policyRuleArbitrary = optionalFields({
  nonResourceURLs: nullableStringArrayArbitrary,
  resourceNames: nullableStringArrayArbitrary,
  verbs: shortArray(wordArbitrary),
  resources: nullableStringArrayArbitrary,
  apiGroups: nullableStringArrayArbitrary,
  unknown: wordArbitrary,
})
const permissionArbitrary = fc.record(
  { serviceAccountName: serviceAccountArbitrary, rules: shortArray(policyRuleArbitrary) },
  { requiredKeys: ['rules'] },
)

const mountPathArbitrary = fc.constantFrom(
  '/tmp/k8s-webhook-server/serving-certs',
  '/apiserver.local.config/certificates',
  '/data',
)
const volumeNameArbitrary = fc.constantFrom('webhook-cert', 'apiservice-cert', 'cert', 'data')
const quantityArbitrary = fc.constantFrom(
  '100m',
  '1000m',
  '1Gi',
  '1024Mi',
  2,
  0.5,
  '1e3',
  '0.1',
  '1.5Gi',
  '0',
  '128974848',
  '12e6',
  '1024',
)
const envVarArbitrary = fc.record(
  { name: fc.constantFrom('A', 'B'), value: fc.constantFrom('1', '', '{{x}}') },
  { requiredKeys: ['name'] },
)
const volumeMountArbitrary = fc.record({ name: volumeNameArbitrary, mountPath: mountPathArbitrary })
const tolerationArbitrary = optionalFields({
  key: wordArbitrary,
  operator: fc.constantFrom('Exists', 'Equal'),
  tolerationSeconds: fc.nat(9),
})
const affinityArbitrary = optionalFields({
  nodeAffinity: optionalFields({
    preferredDuringSchedulingIgnoredDuringExecution: shortArray(
      fc.constant({ weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } }),
      1,
    ),
  }),
  podAffinity: fc.constant({}),
  podAntiAffinity: optionalFields({
    requiredDuringSchedulingIgnoredDuringExecution: shortArray(fc.constant({ topologyKey: 'zone' }), 1),
  }),
})
const resourceRequirementsArbitrary = optionalFields({
  limits: optionalFields({ cpu: quantityArbitrary, memory: quantityArbitrary }),
  requests: optionalFields({ cpu: quantityArbitrary }),
})
const labelsArbitrary = fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'x' })

const deploymentSpecArbitrary = fc.record(
  {
    selector: fc.record({ matchLabels: labelsArbitrary }, { requiredKeys: [] }),
    replicas: usually(fc.nat(3), fc.constantFrom('one', 1.5)),
    revisionHistoryLimit: fc.nat(20),
    strategy: fc.constantFrom(
      { type: 'Recreate' },
      { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    ),
    unknown: wordArbitrary,
    template: fc.record(
      {
        metadata: optionalFields({
          labels: labelsArbitrary,
          annotations: fc.constantFrom({ a: 'template' }, { 'olm.targetNamespaces': 'mine' }, {}),
          creationTimestamp: fc.constant(null),
        }),
        spec: optionalFields({
          serviceAccountName: serviceAccountArbitrary,
          hostNetwork: fc.boolean(),
          enableServiceLinks: fc.boolean(),
          nodeSelector: fc.constant({ disk: 'ssd' }),
          tolerations: shortArray(tolerationArbitrary),
          affinity: affinityArbitrary,
          volumes: shortArray(
            fc.record({ name: volumeNameArbitrary, emptyDir: fc.constantFrom({}, { sizeLimit: '1024Mi' }) }),
          ),
          containers: shortArray(
            optionalFields({
              name: wordArbitrary,
              image: wordArbitrary,
              args: shortArray(usually(wordArbitrary, fc.constant(null))),
              env: shortArray(envVarArbitrary),
              resources: resourceRequirementsArbitrary,
              volumeMounts: shortArray(volumeMountArbitrary),
              ports: shortArray(fc.record({ containerPort: fc.nat(9000) }), 2),
              livenessProbe: optionalFields({ httpGet: fc.record({ port: fc.constantFrom(80, 'http') }) }),
            }),
          ),
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['template'] },
)

const webhookArbitrary = fc.record(
  {
    type: usually(
      fc.constantFrom('ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'ConversionWebhook'),
      fc.constant('Other'),
    ),
    generateName: usually(
      fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', '1') }),
      fc.constantFrom('x-', 'X', '', `${'a'.repeat(254)}`),
    ),
    deploymentName: deploymentNameArbitrary,
    containerPort: fc.constantFrom(443, 8443, 0),
    targetPort: fc.constantFrom(9443, 'https', '8080'),
    webhookPath: fc.constantFrom('/', '/validate', ''),
    failurePolicy: fc.constantFrom('Fail', 'Ignore'),
    matchPolicy: fc.constant('Equivalent'),
    reinvocationPolicy: fc.constant('Never'),
    objectSelector: optionalFields({
      matchLabels: labelsArbitrary,
      matchExpressions: shortArray(fc.constant({ key: 'k', operator: 'Exists' }), 1),
    }),
    sideEffects: fc.constantFrom('None', 'Some'),
    timeoutSeconds: fc.nat(30),
    admissionReviewVersions: fc.constantFrom(['v1'], ['v1', 'v1beta1'], []),
    conversionCRDs: usually(
      shortArray(fc.constantFrom('foos.example.com', 'bars.example.com'), 1),
      shortArray(wordArbitrary),
    ),
    rules: shortArray(
      optionalFields({
        apiGroups: shortArray(
          usually(
            fc.constantFrom('', 'apps'),
            fc.constantFrom('*', 'olm.operatorframework.io', 'admissionregistration.k8s.io'),
          ),
          2,
        ),
        apiVersions: fc.constant(['v1']),
        operations: fc.constant(['CREATE']),
        resources: shortArray(fc.constantFrom('pods', 'ValidatingWebhookConfigurations'), 2),
        scope: fc.constant('Namespaced'),
      }),
      2,
    ),
  },
  { requiredKeys: ['type', 'generateName', 'deploymentName'] },
)

const createCrdArbitrary = (plural: string, kind: string): AnyValueArbitrary =>
  fc.record({
    apiVersion: fc.constantFrom('apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'),
    kind: fc.constant('CustomResourceDefinition'),
    metadata: fc.record(
      {
        name: fc.constant(`${plural}.example.com`),
        annotations: fc.constantFrom({ a: 'b' }, {}),
        unknown: wordArbitrary,
      },
      { requiredKeys: ['name'] },
    ),
    spec: fc.record(
      {
        group: fc.constant('example.com'),
        names: fc.constant({ plural, kind }),
        scope: fc.constant('Namespaced'),
        preserveUnknownFields: usually(fc.constant(false), fc.constant(true)),
        conversion: fc.constantFrom({ strategy: 'None' }, undefined),
        versions: fc.constant([
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', additionalProperties: true, items: { type: 'string' } },
                },
              },
            },
          },
        ]),
      },
      { requiredKeys: ['group', 'names', 'scope', 'versions'] },
    ),
  })

const miscManifestArbitrary = fc.record({
  apiVersion: fc.constant('v1'),
  kind: usually(
    fc.constantFrom(
      'ConfigMap',
      'Service',
      'PriorityClass',
      'VerticalPodAutoscaler',
      'PodMonitor',
      'ClusterRole',
    ),
    fc.constantFrom('Pod', 'Widget'),
  ),
  metadata: fc.record({ name: wordArbitrary, namespace: wordArbitrary }, { requiredKeys: ['name'] }),
  data: fc.constantFrom({ a: '1' }, { b: [1, { c: null }] }),
})
const kubernetesListArbitrary = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constantFrom('List', 'ConfigMapList'),
  items: shortArray(
    fc.oneof(
      miscManifestArbitrary,
      usually(miscManifestArbitrary, fc.constant({ metadata: { name: 'bare' } })),
    ),
  ),
})

const bundlePropertyArbitrary = fc.record({
  type: fc.constantFrom('olm.x', '<t>'),
  value: fc.constantFrom('v', { b: 1, a: '<&>' }, [1.5, null], true),
})

interface WebhookNameFields {
  readonly type: string
  readonly generateName: string
  readonly deploymentName: string
  readonly conversionCRDs?: readonly string[]
}

/** Gives webhooks unique names, existing deployments, and only owned CRDs to convert, each once. */
function makeWebhooksValid(
  webhooks: readonly WebhookNameFields[],
  deployments: readonly string[],
  owned: readonly string[],
): readonly WebhookNameFields[] {
  const unconverted = new Set(owned)
  return webhooks.flatMap((one, index) => {
    const deploymentName = deployments[index % deployments.length]
    if (deploymentName === undefined) return []
    const conversionCRDs = one.conversionCRDs?.filter((crd) => unconverted.delete(crd))
    return [
      {
        ...one,
        ...{ deploymentName, generateName: `${one.generateName}${index}` },
        ...(conversionCRDs && { conversionCRDs }),
      },
    ]
  })
}

/** Files of a bundle, path to text or data. */
export const installBundleArbitrary: fc.Arbitrary<RandomBundleContents> = fc
  .record({
    permissions: shortArray(permissionArbitrary),
    clusterPermissions: shortArray(permissionArbitrary),
    deployments: fc.uniqueArray(
      fc.record(
        { name: deploymentNameArbitrary, spec: deploymentSpecArbitrary, label: labelsArbitrary },
        { requiredKeys: ['name', 'spec'] },
      ),
      { maxLength: 3, selector: ({ name }) => name },
    ),
    more: usually(
      fc.constant([]),
      shortArray(
        fc.record({
          name: usually(deploymentNameArbitrary, fc.constantFrom('X', 'a..b')),
          spec: deploymentSpecArbitrary,
        }),
        1,
      ),
    ),
    webhooks: fc.oneof(fc.constant([]), shortArray(webhookArbitrary)),
    owned: fc.subarray(['foos.example.com', 'bars.example.com']),
    modes: fc.oneof<fc.Arbitrary<string[]>[]>(
      fc.subarray(['AllNamespaces', 'SingleNamespace', 'OwnNamespace', 'MultiNamespace']),
      fc.constant(['AllNamespaces']),
    ),
    annotations: optionalFields({
      a: fc.constant('csv'),
      'olm.properties': fc.constantFrom('[]', '[ {"type": "x", "value": {"b":1, "a":"<"}} ]', 'no'),
    }),
    properties: fc.option(shortArray(bundlePropertyArbitrary)),
    crds: fc.tuple(createCrdArbitrary('foos', 'Foo'), createCrdArbitrary('bars', 'Bar')),
    others: shortArray(miscManifestArbitrary),
    list: fc.option(kubernetesListArbitrary),
    name: fc.constantFrom('foo.v1.0.0', `${'long-'.repeat(12)}v1.0.0`, 'fooé.v1'),
    isSound: fc.constantFrom(true, true, true, false),
    package: usually(fc.constant('foo'), fc.constant('')),
  })
  .map((shape) => {
    const webhooks = shape.isSound
      ? makeWebhooksValid(
          shape.webhooks as WebhookNameFields[],
          shape.deployments.map(({ name }) => name),
          shape.owned,
        )
      : (shape.webhooks as WebhookNameFields[])
    const converts = shape.isSound && webhooks.some(({ type }) => type === 'ConversionWebhook')
    const modes = converts ? ['AllNamespaces'] : shape.modes
    const csv = {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name: shape.name, annotations: shape.annotations },
      spec: {
        version: '1.0.0',
        displayName: 'foo',
        installModes: modes.map((type) => ({ type, supported: true })),
        customresourcedefinitions: {
          owned: shape.owned.map((name) => ({
            name,
            version: 'v1',
            kind: name.startsWith('foo') ? 'Foo' : 'Bar',
          })),
        },
        webhookdefinitions: webhooks,
        install: {
          strategy: 'deployment',
          spec: {
            permissions: shape.permissions,
            clusterPermissions: shape.clusterPermissions,
            deployments: [...shape.deployments, ...(shape.more as unknown[])],
          },
        },
      },
    }
    return {
      'metadata/annotations.yaml': { annotations: { [bundleAnnotationKeys.package]: shape.package } },
      ...(shape.properties && { 'metadata/properties.yaml': { properties: shape.properties } }),
      'manifests/csv.yaml': csv,
      'manifests/crds.yaml': shape.crds.map((one) => `---\n${JSON.stringify(one)}\n`).join(''),
      ...Object.fromEntries(shape.others.map((one, index) => [`manifests/${index}.yaml`, one])),
      ...(shape.list && { 'manifests/list.yaml': shape.list }),
    }
  })
