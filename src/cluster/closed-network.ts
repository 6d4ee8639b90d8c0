// The API addresses that pods may reach in a closed network. Without them no trial runs, because a half-closed network
// protects nothing.
import { listAt, numberAt, type KubeObject } from '../checks/install/trial/kube-object.ts'
import type { TrialNetwork } from '../checks/install/trial/trial-plan.ts'
import type { Cluster } from './cluster.ts'
import { ClusterError } from './cluster-error.ts'

export type ClosedNetwork =
  | { readonly kind: 'closed'; readonly network: TrialNetwork }
  | { readonly kind: 'unknown'; readonly why: string }

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace: 'default',
  name: 'kubernetes',
} as const

export async function closedNetwork(
  cluster: Pick<Cluster, 'look'>,
  reaches: readonly string[],
): Promise<ClosedNetwork> {
  const sighting = await cluster.look(slice)
  if (sighting.kind === 'failed' && sighting.code === 'unreachable')
    throw new ClusterError('unreachable', sighting.says)
  const api = sighting.kind === 'found' ? sighting.objects.flatMap(addressesIn) : []
  if (api.length > 0) return { kind: 'closed', network: { api, reaches } }
  const why =
    sighting.kind === 'failed'
      ? sighting.says
      : 'the EndpointSlice kubernetes in the namespace default has no addresses'
  return { kind: 'unknown', why: `the cluster does not say where its API answers: ${why}` }
}

function addressesIn(object: KubeObject): TrialNetwork['api'] {
  const ports = listAt(object, 'ports')
    .map((port) => numberAt(port, 'port'))
    .filter((port) => port > 0)
  return listAt(object, 'endpoints')
    .flatMap((endpoint) => listAt(endpoint, 'addresses'))
    .filter((address): address is string => typeof address === 'string' && /^[0-9a-fA-F.:]+$/.test(address))
    .map((address) => ({ address, ports }))
}
