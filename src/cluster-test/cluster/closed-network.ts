// The API addresses that pods can connect to in a closed network. Without these addresses, no install test runs,
// because a partially closed network does not protect anything.
import {
  getListAtPath,
  getNumberAtPath,
  type KubeObject,
} from '../../checks/install/cluster-test/kube-object.ts'
import type { ClusterTestAllowedEgress } from '../../checks/install/cluster-test/cluster-test-plan.ts'
import type { KubeClusterClient } from './cluster.ts'
import { ClusterError } from './cluster-error.ts'

export type ClosedNetworkEgressResult =
  | { readonly kind: 'closed'; readonly network: ClusterTestAllowedEgress }
  | { readonly kind: 'unknown'; readonly why: string }

const apiServerEndpointSliceQuery = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace: 'default',
  name: 'kubernetes',
} as const

export async function resolveClosedNetworkEgress(
  cluster: Pick<KubeClusterClient, 'read'>,
  reaches: readonly string[],
): Promise<ClosedNetworkEgressResult> {
  const sighting = await cluster.read(apiServerEndpointSliceQuery)
  if (sighting.kind === 'failed' && sighting.code === 'unreachable')
    throw new ClusterError('unreachable', sighting.says)
  const api = sighting.kind === 'found' ? sighting.objects.flatMap(parseEndpointSliceAddresses) : []
  if (api.length > 0) return { kind: 'closed', network: { api, reaches } }
  const why =
    sighting.kind === 'failed'
      ? sighting.says
      : 'the EndpointSlice kubernetes in namespace default has no addresses'
  return { kind: 'unknown', why: `the addresses of the Kubernetes API are unknown: ${why}` }
}

function parseEndpointSliceAddresses(object: KubeObject): ClusterTestAllowedEgress['api'] {
  const ports = getListAtPath(object, 'ports')
    .map((port) => getNumberAtPath(port, 'port'))
    .filter((port) => port > 0)
  return getListAtPath(object, 'endpoints')
    .flatMap((endpoint) => getListAtPath(endpoint, 'addresses'))
    .filter((address): address is string => typeof address === 'string' && /^[0-9a-fA-F.:]+$/.test(address))
    .map((address) => ({ address, ports }))
}
