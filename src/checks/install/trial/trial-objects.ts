// The objects of a trial. Each has the trial's labels and all but the namespaces belong to one, so that clean-up finds
// them.
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

/** The objects that must exist before the install, except the namespace. */
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
          // A quota refuses pods without resource requests.
          defaultRequest: { cpu: '10m', memory: '32Mi' },
          default: { cpu: '500m', memory: '512Mi' },
        },
      ],
    }),
    ...(plan.network ? [own(networking, 'NetworkPolicy', 'trial', egress(plan, plan.network))] : []),
  ]
}

export function groundLooks(plan: TrialPlan): readonly Look[] {
  const at = { namespace: namespaceOf(plan), name: 'trial' }
  return [
    { apiVersion: 'v1', kind: 'ResourceQuota', ...at },
    { apiVersion: 'v1', kind: 'LimitRange', ...at },
    ...(plan.network ? [{ apiVersion: networking, kind: 'NetworkPolicy', ...at }] : []),
  ]
}

/**
 * Lets an untrusted Operator reach only the API, the name service, the trial's pods and `reaches`. Ingress is open
 * because the API server calls webhooks from any address.
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

/** Only for install modes that watch another namespace. */
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
      // Otherwise a global catalog with the same package could replace the one under test.
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
    // Older servers refuse unrestricted pods, and newer ones may.
    ...('image' in from && { grpcPodConfig: { securityContextConfig: 'restricted' } }),
    ...(pullSecret !== undefined && { secrets: [pullSecret] }),
  })
}

/** `image` and `address` exclude each other. */
export function catalogSourcePlace(from: CatalogAt): Spec {
  return 'image' in from ? { image: from.image } : { address: from.address }
}

export function subscription(plan: TrialPlan, namespace: KubeObject): KubeObject {
  return inNamespace(plan, namespace)(olm, 'Subscription', subscriptionName, {
    name: plan.package,
    channel: plan.channel,
    source: catalogName,
    sourceNamespace: namespaceOf(plan),
    // The InstallPlan is compared with the simulation before anything is installed.
    installPlanApproval: 'Manual',
  })
}

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

/** Needs both labels, so that it never selects a catalog of another owner. */
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

/** The two RukPak versions use different fields. */
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
          // `v1alpha2` has one class for both and converts the bundle.
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
