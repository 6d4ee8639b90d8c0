// Checks that the cluster isolates an install test: it enforces the admission policies in deploy/cluster-rights.yaml,
// which takes several seconds after `kubectl apply`, and its API has addresses to which the network can be limited.
// Without the policies, the account could delete other users' objects.
import {
  type KubeObject,
  getListAtPath,
  getNumberAtPath,
} from '../../checks/install/cluster-test/kube-object.ts'
import { rbacApiVersion } from '../../checks/install/cluster-test/cluster-test-objects.ts'
import type { Clock } from '../../ports/clock.ts'
import { type KubeClusterClient, ClusterError } from './cluster.ts'
import type { ClusterTestEgressAllowlist } from '../../checks/install/cluster-test/cluster-test-plan.ts'

type AllowedEgressResult =
  | { readonly kind: 'closed'; readonly network: ClusterTestEgressAllowlist }
  | { readonly kind: 'unknown'; readonly why: string }

const apiServerEndpointSliceQuery = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace: 'default',
  name: 'kubernetes',
} as const

/** One forbidden write per policy, sent only as a dry run. */
const admissionPolicyProbes: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'not-of-a-trial' } },
  {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'not-of-a-trial' },
    // RBAC lets the account bind its own role, so only the policy can reject this.
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'catalog-bot-trials' },
    subjects: [],
  },
]

const admissionPolicyProbeIntervalMs = 2000

/** Waits until the policies reject every probe. Resolves to the reason if the timeout expires first. */
export async function waitForAdmissionPolicies(
  { perform }: Pick<KubeClusterClient, 'perform'>,
  clock: Clock,
  timeoutMs: number,
): Promise<string | undefined> {
  const deadline = clock.now() + timeoutMs
  for (;;) {
    let open: string | undefined
    for (const object of admissionPolicyProbes) {
      const answer = await perform({ kind: 'create', object, dryRun: true })
      if (answer && /ValidatingAdmissionPolicy|admission webhook/.test(answer.says)) continue
      open = `a dry run to create the ${object.kind} ${object.metadata.name} ${answer ? `failed for another reason: ${answer.says}` : 'was accepted'}`
      break
    }
    if (open === undefined || clock.now() >= deadline) return open
    await clock.sleep(admissionPolicyProbeIntervalMs)
  }
}

/**
 * The API addresses that pods can connect to in a closed network. Without these addresses, no install test runs,
 * because a partially closed network does not protect anything.
 */
export async function resolveAllowedEgress(
  cluster: Pick<KubeClusterClient, 'read'>,
  reaches: readonly string[],
): Promise<AllowedEgressResult> {
  const sighting = await cluster.read(apiServerEndpointSliceQuery)
  if (sighting.kind === 'failed' && sighting.code === 'unreachable')
    throw new ClusterError('unreachable', sighting.says)
  const api = sighting.kind === 'found' ? sighting.objects.flatMap(parseEndpointSliceAddresses) : []
  if (api.length > 0) return { kind: 'closed', network: { api, reaches } }
  const why =
    sighting.kind === 'failed'
      ? sighting.says
      : 'the kubernetes EndpointSlice in the default namespace has no addresses'
  return { kind: 'unknown', why: `the addresses of the Kubernetes API are unknown: ${why}` }
}

function parseEndpointSliceAddresses(object: KubeObject): ClusterTestEgressAllowlist['api'] {
  const ports = getListAtPath(object, 'ports')
    .map((port) => getNumberAtPath(port, 'port'))
    .filter((port) => port > 0)
  return getListAtPath(object, 'endpoints')
    .flatMap((endpoint) => getListAtPath(endpoint, 'addresses'))
    .filter((address): address is string => typeof address === 'string' && /^[0-9a-fA-F.:]+$/.test(address))
    .map((address) => ({ address, ports }))
}
