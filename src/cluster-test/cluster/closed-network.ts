// The API addresses that pods can connect to in a closed network. Without these addresses, no install test runs,
// because a partially closed network does not protect anything.
import { getListAt, getNumberAt, type KubeObject } from '../../checks/install/cluster-test/kube-object.ts'
import type { ClusterTestAllowedEgress } from '../../checks/install/cluster-test/cluster-test-plan.ts'
import type { Cluster } from './cluster.ts'
import { ClusterError } from './cluster-error.ts'

export type ClosedNetworkResult =
  | { readonly kind: 'closed'; readonly network: ClusterTestAllowedEgress }
  | { readonly kind: 'unknown'; readonly why: string }

const apiServerEndpointSliceQuery = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace: 'default',
  name: 'kubernetes',
} as const

export async function resolveClosedNetwork(
  cluster: Pick<Cluster, 'read'>,
  reaches: readonly string[],
): Promise<ClosedNetworkResult> {
  const sighting = await cluster.read(apiServerEndpointSliceQuery)
  if (sighting.kind === 'failed' && sighting.code === 'unreachable')
    throw new ClusterError('unreachable', sighting.says)
  const api = sighting.kind === 'found' ? sighting.objects.flatMap(parseEndpointAddresses) : []
  if (api.length > 0) return { kind: 'closed', network: { api, reaches } }
  const why =
    sighting.kind === 'failed'
      ? sighting.says
      : 'the EndpointSlice kubernetes in namespace default has no addresses'
  return { kind: 'unknown', why: `the addresses of the Kubernetes API are unknown: ${why}` }
}

function parseEndpointAddresses(object: KubeObject): ClusterTestAllowedEgress['api'] {
  const ports = getListAt(object, 'ports')
    .map((port) => getNumberAt(port, 'port'))
    .filter((port) => port > 0)
  return getListAt(object, 'endpoints')
    .flatMap((endpoint) => getListAt(endpoint, 'addresses'))
    .filter((address): address is string => typeof address === 'string' && /^[0-9a-fA-F.:]+$/.test(address))
    .map((address) => ({ address, ports }))
}
