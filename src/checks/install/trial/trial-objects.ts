// The objects that a trial makes. Every one has the trial's labels, and all but its namespace belong to that: whatever
// becomes of the trial, they are found again, and go with it.
import type { Json } from '../../../go/json/json.ts'
import { unpackTimeout } from './deadlines.ts'
import type { KubeObject, Look, OwnerReference } from './kube-object.ts'
import {
  clusterNameOf,
  crdsAnnotation,
  expiresLabel,
  namespaceOf,
  targetNamespaceOf,
  trialLabel,
  type CatalogAt,
  type TrialNetwork,
  type TrialPlan,
  type TrialStep,
} from './trial-plan.ts'

export const catalogName = 'catalog'
export const subscriptionName = 'subscription'
export const olm = 'operators.coreos.com/v1alpha1'
export const olmGroups = 'operators.coreos.com/v1'
export const olmV1 = 'olm.operatorframework.io/v1'
const networking = 'networking.k8s.io/v1'
export const rbac = 'rbac.authorization.k8s.io/v1'
export const installerName = 'installer'

type Spec = Readonly<Record<string, Json>>

export function namespaceObject(plan: TrialPlan): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: namespaceOf(plan),
      labels: { ...labelsOf(plan), 'pod-security.kubernetes.io/enforce': plan.quota.podSecurity },
      annotations: { [crdsAnnotation]: JSON.stringify(plan.crds) },
    },
  }
}

/** Everything that has to be there before anything is installed, but the namespace itself. */
export function groundObjects(plan: TrialPlan, namespace: KubeObject): readonly KubeObject[] {
  const { pods, cpu, memory } = plan.quota
  const own = inNamespace(plan, namespace)
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
          // A quota refuses pods that say nothing of what they need.
          defaultRequest: { cpu: '10m', memory: '32Mi' },
          default: { cpu: '500m', memory: '512Mi' },
        },
      ],
    }),
    ...(plan.network ? [own(networking, 'NetworkPolicy', 'trial', egress(plan, plan.network))] : []),
  ]
}

/** Where they are found again. */
export function groundLooks(plan: TrialPlan): readonly Look[] {
  const at = { namespace: namespaceOf(plan), name: 'trial' }
  return [
    { apiVersion: 'v1', kind: 'ResourceQuota', ...at },
    { apiVersion: 'v1', kind: 'LimitRange', ...at },
    ...(plan.network ? [{ apiVersion: networking, kind: 'NetworkPolicy', ...at }] : []),
  ]
}

/**
 * A pull request's Operator is a stranger's program: it reaches the API, names and its own pods, and nothing else of the network
 * that the cluster is in. What reaches the pods is not restricted: webhooks are called by the API server, from wherever it is.
 */
function egress(plan: TrialPlan, { api, reaches }: TrialNetwork): Spec {
  const tcp = (ports: readonly number[]) => ports.map((port) => ({ protocol: 'TCP', port }))
  const names = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port })))
  return {
    podSelector: {},
    policyTypes: ['Egress'],
    egress: [
      { to: [{ namespaceSelector: { matchLabels: { [trialLabel]: plan.id } } }] },
      { to: [{ namespaceSelector: {} }], ports: names },
      ...api.map(({ address, ports }) => ({
        to: [{ ipBlock: { cidr: `${address}/${address.includes(':') ? 128 : 32}` } }],
        ports: tcp(ports),
      })),
      ...(reaches.length > 0 ? [{ to: reaches.map((cidr) => ({ ipBlock: { cidr } })) }] : []),
    ],
  }
}

/** Modes whose Operator watches another namespace. */
export function targetNamespace(plan: TrialPlan, namespace: KubeObject): KubeObject | undefined {
  if (plan.mode !== 'SingleNamespace' && plan.mode !== 'MultiNamespace') return undefined
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: targetNamespaceOf(plan),
      labels: labelsOf(plan),
      ownerReferences: [ownerOf(namespace)],
    },
  }
}

export function operatorGroup(plan: TrialPlan, namespace: KubeObject): KubeObject {
  const name = namespaceOf(plan)
  const targets: Readonly<Record<TrialPlan['mode'], readonly string[] | undefined>> = {
    AllNamespaces: undefined,
    OwnNamespace: [name],
    SingleNamespace: [targetNamespaceOf(plan)],
    MultiNamespace: [name, targetNamespaceOf(plan)],
  }
  const targetNamespaces = targets[plan.mode]
  return inNamespace(plan, namespace)(
    olmGroups,
    'OperatorGroup',
    'group',
    targetNamespaces === undefined ? {} : { targetNamespaces },
    {
      'operatorframework.io/bundle-unpack-timeout': unpackTimeout,
      // Or a catalog of the cluster with the same package gives what this one is tried for.
      'olm.operatorframework.io/exclude-global-namespace-resolution': 'true',
    },
  )
}

export function catalogSource(plan: TrialPlan, namespace: KubeObject, from: CatalogAt): KubeObject {
  const { pullSecret } = plan
  return inNamespace(plan, namespace)(olm, 'CatalogSource', catalogName, {
    sourceType: 'grpc',
    displayName: `trial of ${plan.package}`,
    publisher: 'catalog-bot',
    ...catalogSourcePlace(from),
    // Older servers refuse the pod of an unrestricted one, newer ones may.
    ...('image' in from && { grpcPodConfig: { securityContextConfig: 'restricted' } }),
    ...(pullSecret !== undefined && { secrets: [pullSecret] }),
  })
}

/** An image and an address exclude each other. */
export function catalogSourcePlace(from: CatalogAt): Spec {
  return 'image' in from ? { image: from.image } : { address: from.address }
}

export function subscription(plan: TrialPlan, namespace: KubeObject): KubeObject {
  return inNamespace(plan, namespace)(olm, 'Subscription', subscriptionName, {
    name: plan.package,
    channel: plan.channel,
    source: catalogName,
    sourceNamespace: namespaceOf(plan),
    // Nothing is installed before its InstallPlan was compared with the simulated resolution.
    installPlanApproval: 'Manual',
  })
}

/** Which of the two catalogs a ClusterCatalog is. */
export type CatalogSide = 'base' | 'head'
const sideLabel = 'catalog-bot.io/catalog'

export const clusterCatalogName = (plan: TrialPlan, side: CatalogSide): string =>
  `${clusterNameOf(plan)}-${side}`

export function clusterCatalog(
  plan: TrialPlan,
  namespace: KubeObject,
  side: CatalogSide,
  ref: string,
): KubeObject {
  return clusterWide(plan, namespace)(
    olmV1,
    'ClusterCatalog',
    clusterCatalogName(plan, side),
    {
      priority: 0,
      availabilityMode: 'Available',
      source: { type: 'Image', image: { ref } },
    },
    { [sideLabel]: side },
  )
}

export function clusterExtension(plan: TrialPlan, namespace: KubeObject, side: CatalogSide): KubeObject {
  return clusterWide(plan, namespace)(olmV1, 'ClusterExtension', clusterNameOf(plan), {
    namespace: namespaceOf(plan),
    serviceAccount: { name: installerName },
    source: {
      sourceType: 'Catalog',
      catalog: {
        packageName: plan.package,
        channels: [plan.channel],
        selector: catalogSelector(plan, side),
      },
    },
  })
}

/** Both labels: a catalog of somebody else's cannot be chosen by one of them. */
export function catalogSelector({ id }: TrialPlan, side: CatalogSide): Spec {
  return { matchLabels: { [trialLabel]: id, [sideLabel]: side } }
}

export function installerObjects(plan: TrialPlan, namespace: KubeObject): readonly KubeObject[] {
  return [
    inNamespace(plan, namespace)('v1', 'ServiceAccount', installerName, undefined),
    {
      ...clusterWide(plan, namespace)(rbac, 'ClusterRoleBinding', clusterNameOf(plan), undefined),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: plan.installerRole },
      subjects: [{ kind: 'ServiceAccount', name: installerName, namespace: namespaceOf(plan) }],
    },
  ]
}

const provisioners = {
  'RukPak plain': ['core-rukpak-io-plain', 'core-rukpak-io-plain'],
  'RukPak registry': ['core-rukpak-io-plain', 'core-rukpak-io-registry'],
  'RukPak helm': ['core-rukpak-io-helm', 'core-rukpak-io-helm'],
} as const

export type RukPakTarget = keyof typeof provisioners

/** Its shape differs between RukPak's two versions. */
export function bundleDeployment(
  plan: TrialPlan,
  namespace: KubeObject,
  target: RukPakTarget,
  { apiVersion, step }: { readonly apiVersion: string; readonly step: TrialStep },
): KubeObject {
  const [deploying, unpacking] = provisioners[target]
  const source = imageSource(plan, step)
  return clusterWide(plan, namespace)(
    apiVersion,
    'BundleDeployment',
    clusterNameOf(plan),
    apiVersion.endsWith('v1alpha1')
      ? {
          provisionerClassName: deploying,
          template: {
            metadata: { labels: labelsOf(plan) },
            spec: { provisionerClassName: unpacking, source },
          },
        }
      : {
          // The later version has one class for both, and converts by itself.
          provisionerClassName: target === 'RukPak helm' ? deploying : unpacking,
          installNamespace: namespaceOf(plan),
          source,
        },
  )
}

export function imageSource({ pullSecret }: TrialPlan, { image = '' }: TrialStep): Spec {
  return { type: 'image', image: { ref: image, ...(pullSecret !== undefined && { pullSecret }) } }
}

function labelsOf({ id, expires }: Pick<TrialPlan, 'id' | 'expires'>): Readonly<Record<string, string>> {
  return { [trialLabel]: id, [expiresLabel]: String(expires) }
}

function inNamespace(plan: TrialPlan, namespace: KubeObject) {
  return (
    apiVersion: string,
    kind: string,
    name: string,
    spec: Spec | undefined,
    annotations?: Readonly<Record<string, string>>,
  ): KubeObject => ({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: namespaceOf(plan),
      labels: labelsOf(plan),
      ...(annotations && { annotations }),
      ownerReferences: [ownerOf(namespace)],
    },
    ...(spec && { spec }),
  })
}

function clusterWide(plan: TrialPlan, namespace: KubeObject) {
  return (
    apiVersion: string,
    kind: string,
    name: string,
    spec: Spec | undefined,
    labels: Readonly<Record<string, string>> = {},
  ): KubeObject => ({
    apiVersion,
    kind,
    metadata: {
      name,
      labels: { ...labelsOf(plan), ...labels },
      ownerReferences: [ownerOf(namespace)],
    },
    ...(spec && { spec }),
  })
}

function ownerOf({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid }
}
