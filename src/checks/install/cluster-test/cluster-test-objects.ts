// The objects of an install test. Each has the test's labels, and each except the namespaces belongs to one of the
// namespaces, so that clean-up can find them.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { bundleUnpackTimeoutGoDuration } from './cluster-test-state.ts'
import type { KubeObject, KubeQuery, OwnerReference } from './kube-object.ts'
import {
  toClusterScopedObjectName,
  crdsAbsentBeforeTestAnnotation,
  expirationLabelKey,
  toTestNamespaceName,
  toTargetNamespaceName,
  clusterTestLabelKey,
  type ClusterTestCatalogSource,
  type ClusterTestEgressAllowlist,
  type ClusterTestPlan,
  type ClusterTestStep,
} from './cluster-test-plan.ts'

export const catalogSourceName = 'catalog'
export const subscriptionName = 'subscription'
export const olmApiVersion = 'operators.coreos.com/v1alpha1'
export const operatorGroupApiVersion = 'operators.coreos.com/v1'
export const olmV1ApiVersion = 'olm.operatorframework.io/v1'
const networkingApiVersion = 'networking.k8s.io/v1'
export const rbacApiVersion = 'rbac.authorization.k8s.io/v1'
/** `v1alpha2` has no Bundle object. */
export const rukPakApiVersions = ['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'] as const
export const installerServiceAccountName = 'installer'

type KubeObjectSpec = Readonly<Record<string, Json>>

export function createTestNamespace(plan: ClusterTestPlan): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: toTestNamespaceName(plan),
      labels: {
        ...createClusterTestLabels(plan),
        'pod-security.kubernetes.io/enforce': plan.quota.podSecurity,
      },
      annotations: { [crdsAbsentBeforeTestAnnotation]: JSON.stringify(plan.crds) },
    },
  }
}

/** The objects that must exist before the install, except the namespace. */
export function createPrerequisiteObjects(
  plan: ClusterTestPlan,
  namespace: KubeObject,
): readonly KubeObject[] {
  const { pods, cpu, memory } = plan.quota
  const own = createObjectFactory(plan, namespace)
  return [
    own('v1', 'ResourceQuota', 'trial', {
      hard: {
        pods: String(pods),
        'requests.cpu': cpu,
        'requests.memory': memory,
        'limits.cpu': cpu,
        'limits.memory': memory,
        'requests.storage': '10Gi',
        'services.loadbalancers': '0',
        'services.nodeports': '0',
      },
    }),
    own('v1', 'LimitRange', 'trial', {
      limits: [
        {
          type: 'Container',
          // A quota rejects pods without resource requests.
          defaultRequest: { cpu: '10m', memory: '32Mi' },
          default: { cpu: '500m', memory: '512Mi' },
        },
      ],
    }),
    ...[plan.network && createEgressNetworkPolicySpec(plan, plan.network)].flatMap((spec) =>
      spec ? [own(networkingApiVersion, 'NetworkPolicy', 'trial', spec)] : [],
    ),
  ]
}

export function listPrerequisiteQueries(plan: ClusterTestPlan): readonly KubeQuery[] {
  const at = { namespace: toTestNamespaceName(plan), name: 'trial' }
  return [
    { apiVersion: 'v1', kind: 'ResourceQuota', ...at },
    { apiVersion: 'v1', kind: 'LimitRange', ...at },
    ...(plan.network ? [{ apiVersion: networkingApiVersion, kind: 'NetworkPolicy', ...at }] : []),
  ]
}

/**
 * Allows an untrusted Operator to connect only to the Kubernetes API, cluster DNS, the test's pods, and `reaches`.
 * Ingress is open because the API server can call webhooks from any address.
 */
function createEgressNetworkPolicySpec(
  plan: ClusterTestPlan,
  { api, reaches }: ClusterTestEgressAllowlist,
): KubeObjectSpec {
  const tcp = (ports: readonly number[]) => ports.map((port) => ({ protocol: 'TCP', port }))
  const names = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port })))
  return {
    podSelector: {},
    policyTypes: ['Egress'],
    egress: [
      { to: [{ namespaceSelector: { matchLabels: { [clusterTestLabelKey]: plan.id } } }] },
      { to: [{ namespaceSelector: {} }], ports: names },
      ...api.map(({ address, ports }) => ({
        to: [{ ipBlock: { cidr: `${address}/${address.includes(':') ? 128 : 32}` } }],
        ports: tcp(ports),
      })),
      ...(reaches.length > 0 ? [{ to: reaches.map((cidr) => ({ ipBlock: { cidr } })) }] : []),
    ],
  }
}

/** Only for install modes that watch another namespace. */
export function createTargetNamespace(plan: ClusterTestPlan, namespace: KubeObject): KubeObject | undefined {
  if (plan.mode !== 'SingleNamespace' && plan.mode !== 'MultiNamespace') return undefined
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: toTargetNamespaceName(plan),
      labels: createClusterTestLabels(plan),
      ownerReferences: [createOwnerReference(namespace)],
    },
  }
}

export function createOperatorGroup(plan: ClusterTestPlan, namespace: KubeObject): KubeObject {
  const name = toTestNamespaceName(plan)
  const targets: Readonly<Record<ClusterTestPlan['mode'], readonly string[] | undefined>> = {
    AllNamespaces: undefined,
    OwnNamespace: [name],
    SingleNamespace: [toTargetNamespaceName(plan)],
    MultiNamespace: [name, toTargetNamespaceName(plan)],
  }
  const targetNamespaces = targets[plan.mode]
  return createObjectFactory(plan, namespace)(
    operatorGroupApiVersion,
    'OperatorGroup',
    'group',
    targetNamespaces === undefined ? {} : { targetNamespaces },
    {
      annotations: {
        'operatorframework.io/bundle-unpack-timeout': bundleUnpackTimeoutGoDuration,
        // Otherwise a global catalog with the same package could replace the one under test.
        'olm.operatorframework.io/exclude-global-namespace-resolution': 'true',
      },
    },
  )
}

export function createCatalogSource(
  plan: ClusterTestPlan,
  namespace: KubeObject,
  from: ClusterTestCatalogSource,
) {
  const { pullSecret } = plan
  return createObjectFactory(plan, namespace)(olmApiVersion, 'CatalogSource', catalogSourceName, {
    sourceType: 'grpc',
    displayName: `install test of ${plan.package}`,
    publisher: 'catalog-bot',
    ...from,
    // Some clusters reject unrestricted pods.
    ...('image' in from && { grpcPodConfig: { securityContextConfig: 'restricted' } }),
    ...(pullSecret !== undefined && { secrets: [pullSecret] }),
  })
}

export function createSubscription(plan: ClusterTestPlan, namespace: KubeObject): KubeObject {
  return createObjectFactory(plan, namespace)(olmApiVersion, 'Subscription', subscriptionName, {
    name: plan.package,
    channel: plan.channel,
    source: catalogSourceName,
    sourceNamespace: toTestNamespaceName(plan),
    // catalog-bot compares the InstallPlan with the simulation before OLM installs anything.
    installPlanApproval: 'Manual',
  })
}

export type CatalogRevision = 'base' | 'head'
const catalogRevisionLabelKey = 'catalog-bot.io/catalog'

export const toClusterCatalogName = (plan: ClusterTestPlan, side: CatalogRevision): string =>
  `${toClusterScopedObjectName(plan)}-${side}`

export function createClusterCatalog(
  plan: ClusterTestPlan,
  namespace: KubeObject,
  side: CatalogRevision,
  ref: string,
): KubeObject {
  return createObjectFactory(plan, namespace, true)(
    olmV1ApiVersion,
    'ClusterCatalog',
    toClusterCatalogName(plan, side),
    { priority: 0, availabilityMode: 'Available', source: { type: 'Image', image: { ref } } },
    { labels: { [catalogRevisionLabelKey]: side } },
  )
}

export function createClusterExtension(
  plan: ClusterTestPlan,
  namespace: KubeObject,
  side: CatalogRevision,
): KubeObject {
  return createObjectFactory(plan, namespace, true)(
    olmV1ApiVersion,
    'ClusterExtension',
    toClusterScopedObjectName(plan),
    {
      namespace: toTestNamespaceName(plan),
      serviceAccount: { name: installerServiceAccountName },
      source: {
        sourceType: 'Catalog',
        catalog: {
          packageName: plan.package,
          channels: [plan.channel],
          selector: createCatalogLabelSelector(plan, side),
        },
      },
    },
  )
}

/** Requires both labels, so that it never selects another user's catalog. */
export function createCatalogLabelSelector({ id }: ClusterTestPlan, side: CatalogRevision): KubeObjectSpec {
  return { matchLabels: { [clusterTestLabelKey]: id, [catalogRevisionLabelKey]: side } }
}

export function createInstallerRbacObjects(
  plan: ClusterTestPlan,
  namespace: KubeObject,
): readonly KubeObject[] {
  return [
    createObjectFactory(plan, namespace)('v1', 'ServiceAccount', installerServiceAccountName),
    {
      ...createObjectFactory(plan, namespace, true)(
        rbacApiVersion,
        'ClusterRoleBinding',
        toClusterScopedObjectName(plan),
      ),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: plan.installerRole },
      subjects: [
        { kind: 'ServiceAccount', name: installerServiceAccountName, namespace: toTestNamespaceName(plan) },
      ],
    },
  ]
}

const provisionerClassesByRukPakTarget = {
  'RukPak plain': ['core-rukpak-io-plain', 'core-rukpak-io-plain'],
  'RukPak registry': ['core-rukpak-io-plain', 'core-rukpak-io-registry'],
  'RukPak helm': ['core-rukpak-io-helm', 'core-rukpak-io-helm'],
} as const

export type RukPakInstallTarget = keyof typeof provisionerClassesByRukPakTarget

/** The two RukPak versions use different fields. */
export function createRukPakBundleDeployment(
  plan: ClusterTestPlan,
  namespace: KubeObject,
  target: RukPakInstallTarget,
  { apiVersion, step }: { readonly apiVersion: string; readonly step: ClusterTestStep },
): KubeObject {
  const [deploying, unpacking] = provisionerClassesByRukPakTarget[target]
  const source = createRukPakImageSource(plan, step)
  return createObjectFactory(plan, namespace, true)(
    apiVersion,
    'BundleDeployment',
    toClusterScopedObjectName(plan),
    apiVersion.endsWith('v1alpha1')
      ? {
          provisionerClassName: deploying,
          template: {
            metadata: { labels: createClusterTestLabels(plan) },
            spec: { provisionerClassName: unpacking, source },
          },
        }
      : {
          // `v1alpha2` has one class for both and converts the bundle.
          provisionerClassName: target === 'RukPak helm' ? deploying : unpacking,
          installNamespace: toTestNamespaceName(plan),
          source,
        },
  )
}

export function createRukPakImageSource(
  { pullSecret }: ClusterTestPlan,
  { image = '' }: ClusterTestStep,
): KubeObjectSpec {
  return { type: 'image', image: { ref: image, ...(pullSecret !== undefined && { pullSecret }) } }
}

function createClusterTestLabels(plan: ClusterTestPlan): Readonly<Record<string, string>> {
  return { [clusterTestLabelKey]: plan.id, [expirationLabelKey]: String(plan.expires) }
}

/** Creates objects in the test's namespace; with `isClusterScoped`, objects without one that still belong to it. */
function createObjectFactory(plan: ClusterTestPlan, namespace: KubeObject, isClusterScoped = false) {
  return (
    apiVersion: string,
    kind: string,
    name: string,
    spec?: KubeObjectSpec,
    { labels, annotations }: Pick<KubeObject['metadata'], 'labels' | 'annotations'> = {},
  ): KubeObject => ({
    apiVersion,
    kind,
    metadata: {
      name,
      ...(!isClusterScoped && { namespace: toTestNamespaceName(plan) }),
      labels: { ...createClusterTestLabels(plan), ...labels },
      ...(annotations && { annotations }),
      ownerReferences: [createOwnerReference(namespace)],
    },
    ...(spec && { spec }),
  })
}

function createOwnerReference({
  apiVersion,
  kind,
  metadata: { name, uid = '' },
}: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid }
}
