// Bundles with every feature that OLM v1's renderer knows, and some that it refuses.
import fc from '../../seeded.ts'
import { annotationKeys } from '../../../src/bundle/bundle-metadata.ts'

type Files = Readonly<Record<string, unknown>>
type Arbitrary = fc.Arbitrary<unknown>

/** Each field or not. */
const some = (fields: Record<string, Arbitrary>): Arbitrary => fc.record(fields, { requiredKeys: [] })
const few = (item: Arbitrary, most = 3): fc.Arbitrary<unknown[]> => fc.array(item, { maxLength: most })
/** Mostly the first. */
const seldom = (value: Arbitrary, odd: Arbitrary): Arbitrary =>
  fc.oneof({ weight: 60, arbitrary: value }, { weight: 1, arbitrary: odd })

const deployment = fc.constantFrom(
  'web',
  'web.manager',
  'a-rather-long-deployment-name-that-makes-services-overflow',
)
const account = fc.constantFrom('', 'default', 'web', 'builder', `a${'-long'.repeat(20)}`)
const word = fc.constantFrom('a', 'get', '*', '<&>', 'é😀', '"q"', '')
const words = fc.oneof(few(word), fc.constant([]), fc.constant(null))

const rule = some({
  nonResourceURLs: words,
  resourceNames: words,
  verbs: few(word),
  resources: words,
  apiGroups: words,
  unknown: word,
})
const permission = fc.record({ serviceAccountName: account, rules: few(rule) }, { requiredKeys: ['rules'] })

const path = fc.constantFrom(
  '/tmp/k8s-webhook-server/serving-certs',
  '/apiserver.local.config/certificates',
  '/data',
)
const volume = fc.constantFrom('webhook-cert', 'apiservice-cert', 'cert', 'data')
const quantity = fc.constantFrom(
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
const env = fc.record(
  { name: fc.constantFrom('A', 'B'), value: fc.constantFrom('1', '', '{{x}}') },
  { requiredKeys: ['name'] },
)
const mount = fc.record({ name: volume, mountPath: path })
const toleration = some({
  key: word,
  operator: fc.constantFrom('Exists', 'Equal'),
  tolerationSeconds: fc.nat(9),
})
const affinity = some({
  nodeAffinity: some({
    preferredDuringSchedulingIgnoredDuringExecution: few(
      fc.constant({ weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } }),
      1,
    ),
  }),
  podAffinity: fc.constant({}),
  podAntiAffinity: some({
    requiredDuringSchedulingIgnoredDuringExecution: few(fc.constant({ topologyKey: 'zone' }), 1),
  }),
})
const resources = some({
  limits: some({ cpu: quantity, memory: quantity }),
  requests: some({ cpu: quantity }),
})
const labels = fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'x' })

const spec = fc.record(
  {
    selector: fc.record({ matchLabels: labels }, { requiredKeys: [] }),
    replicas: seldom(fc.nat(3), fc.constantFrom('one', 1.5)),
    revisionHistoryLimit: fc.nat(20),
    strategy: fc.constantFrom(
      { type: 'Recreate' },
      { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    ),
    unknown: word,
    template: fc.record(
      {
        metadata: some({
          labels,
          annotations: fc.constantFrom({ a: 'template' }, { 'olm.targetNamespaces': 'mine' }, {}),
          creationTimestamp: fc.constant(null),
        }),
        spec: some({
          serviceAccountName: account,
          hostNetwork: fc.boolean(),
          enableServiceLinks: fc.boolean(),
          nodeSelector: fc.constant({ disk: 'ssd' }),
          tolerations: few(toleration),
          affinity,
          volumes: few(fc.record({ name: volume, emptyDir: fc.constantFrom({}, { sizeLimit: '1024Mi' }) })),
          containers: few(
            some({
              name: word,
              image: word,
              args: few(seldom(word, fc.constant(null))),
              env: few(env),
              resources,
              volumeMounts: few(mount),
              ports: few(fc.record({ containerPort: fc.nat(9000) }), 2),
              livenessProbe: some({ httpGet: fc.record({ port: fc.constantFrom(80, 'http') }) }),
            }),
          ),
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['template'] },
)

const webhook = fc.record(
  {
    type: seldom(
      fc.constantFrom('ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'ConversionWebhook'),
      fc.constant('Other'),
    ),
    generateName: seldom(
      fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', '1') }),
      fc.constantFrom('x-', 'X', '', `${'a'.repeat(254)}`),
    ),
    deploymentName: deployment,
    containerPort: fc.constantFrom(443, 8443, 0),
    targetPort: fc.constantFrom(9443, 'https', '8080'),
    webhookPath: fc.constantFrom('/', '/validate', ''),
    failurePolicy: fc.constantFrom('Fail', 'Ignore'),
    matchPolicy: fc.constant('Equivalent'),
    reinvocationPolicy: fc.constant('Never'),
    objectSelector: some({
      matchLabels: labels,
      matchExpressions: few(fc.constant({ key: 'k', operator: 'Exists' }), 1),
    }),
    sideEffects: fc.constantFrom('None', 'Some'),
    timeoutSeconds: fc.nat(30),
    admissionReviewVersions: fc.constantFrom(['v1'], ['v1', 'v1beta1'], []),
    conversionCRDs: seldom(few(fc.constantFrom('foos.example.com', 'bars.example.com'), 1), few(word)),
    rules: few(
      some({
        apiGroups: few(
          seldom(
            fc.constantFrom('', 'apps'),
            fc.constantFrom('*', 'olm.operatorframework.io', 'admissionregistration.k8s.io'),
          ),
          2,
        ),
        apiVersions: fc.constant(['v1']),
        operations: fc.constant(['CREATE']),
        resources: few(fc.constantFrom('pods', 'ValidatingWebhookConfigurations'), 2),
        scope: fc.constant('Namespaced'),
      }),
      2,
    ),
  },
  { requiredKeys: ['type', 'generateName', 'deploymentName'] },
)

const crd = (plural: string, kind: string): Arbitrary =>
  fc.record({
    apiVersion: fc.constantFrom('apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'),
    kind: fc.constant('CustomResourceDefinition'),
    metadata: fc.record(
      {
        name: fc.constant(`${plural}.example.com`),
        annotations: fc.constantFrom({ a: 'b' }, {}),
        unknown: word,
      },
      { requiredKeys: ['name'] },
    ),
    spec: fc.record(
      {
        group: fc.constant('example.com'),
        names: fc.constant({ plural, kind }),
        scope: fc.constant('Namespaced'),
        preserveUnknownFields: seldom(fc.constant(false), fc.constant(true)),
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

const other = fc.record({
  apiVersion: fc.constant('v1'),
  kind: seldom(
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
  metadata: fc.record({ name: word, namespace: word }, { requiredKeys: ['name'] }),
  data: fc.constantFrom({ a: '1' }, { b: [1, { c: null }] }),
})
const list = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constantFrom('List', 'ConfigMapList'),
  items: few(fc.oneof(other, seldom(other, fc.constant({ metadata: { name: 'bare' } })))),
})

const property = fc.record({
  type: fc.constantFrom('olm.x', '<t>'),
  value: fc.constantFrom('v', { b: 1, a: '<&>' }, [1.5, null], true),
})

interface Webhook {
  readonly type: string
  readonly generateName: string
  readonly deploymentName: string
  readonly conversionCRDs?: readonly string[]
}

/** Webhooks with names of their own, of deployments that are there, that convert what is owned, each once. */
function sound(
  webhooks: readonly Webhook[],
  deployments: readonly string[],
  owned: readonly string[],
): readonly Webhook[] {
  const left = new Set(owned)
  return webhooks.flatMap((one, index) => {
    const deploymentName = deployments[index % deployments.length]
    if (deploymentName === undefined) return []
    const conversionCRDs = one.conversionCRDs?.filter((crd) => left.delete(crd))
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
export const installShape: fc.Arbitrary<Files> = fc
  .record({
    permissions: few(permission),
    clusterPermissions: few(permission),
    deployments: fc.uniqueArray(
      fc.record({ name: deployment, spec, label: labels }, { requiredKeys: ['name', 'spec'] }),
      {
        maxLength: 3,
        selector: ({ name }) => name,
      },
    ),
    more: seldom(
      fc.constant([]),
      few(fc.record({ name: seldom(deployment, fc.constantFrom('X', 'a..b')), spec }), 1),
    ),
    webhooks: fc.oneof(fc.constant([]), few(webhook)),
    owned: fc.subarray(['foos.example.com', 'bars.example.com']),
    modes: fc.oneof<fc.Arbitrary<string[]>[]>(
      fc.subarray(['AllNamespaces', 'SingleNamespace', 'OwnNamespace', 'MultiNamespace']),
      fc.constant(['AllNamespaces']),
    ),
    annotations: some({
      a: fc.constant('csv'),
      'olm.properties': fc.constantFrom('[]', '[ {"type": "x", "value": {"b":1, "a":"<"}} ]', 'no'),
    }),
    properties: fc.option(few(property)),
    crds: fc.tuple(crd('foos', 'Foo'), crd('bars', 'Bar')),
    others: few(other),
    list: fc.option(list),
    name: fc.constantFrom('foo.v1.0.0', `${'long-'.repeat(12)}v1.0.0`, 'fooé.v1'),
    isSound: fc.constantFrom(true, true, true, false),
    package: seldom(fc.constant('foo'), fc.constant('')),
  })
  .map((shape) => {
    const webhooks = shape.isSound
      ? sound(
          shape.webhooks as Webhook[],
          shape.deployments.map(({ name }) => name),
          shape.owned,
        )
      : (shape.webhooks as Webhook[])
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
      'metadata/annotations.yaml': { annotations: { [annotationKeys.package]: shape.package } },
      ...(shape.properties && { 'metadata/properties.yaml': { properties: shape.properties } }),
      'manifests/csv.yaml': csv,
      'manifests/crds.yaml': shape.crds.map((one) => `---\n${JSON.stringify(one)}\n`).join(''),
      ...Object.fromEntries(shape.others.map((one, index) => [`manifests/${index}.yaml`, one])),
      ...(shape.list && { 'manifests/list.yaml': shape.list }),
    }
  })
