// The process with the kubeconfigs: one order at a time for one repository. Reads no catalogs or bundles.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../../adapters/system-clock.ts'
import {
  serveWorkerRequests,
  type ParentProcessRequestSender,
  preventPrototypePollution,
} from '../../adapters/workers/answer-orders.ts'
import { parseClusterTargets, type ClusterTarget } from './cluster-targets.ts'
import { handleClusterTestRequest } from './cluster-test-handler.ts'
import type {
  ClusterTestProgressResponse,
  ClusterTestWorkerResponse,
  ClusterTestWorkerRequest,
} from './cluster-test-protocol.ts'

const clusterTargetsFilePath = process.env['CLUSTER_TARGETS'] ?? ''

async function handleClusterTestWorkerRequest(
  order: ClusterTestWorkerRequest,
  callBack: ParentProcessRequestSender,
): Promise<ClusterTestWorkerResponse> {
  let targets: readonly ClusterTarget[]
  try {
    // Read each time, so that a changed list takes effect.
    targets =
      clusterTargetsFilePath === '' ? [] : parseClusterTargets(await readFile(clusterTargetsFilePath, 'utf8'))
  } catch (error) {
    return {
      kind: 'failed',
      why:
        error instanceof Error && error.message.startsWith('CLUSTER_TARGETS')
          ? error.message
          : 'CLUSTER_TARGETS could not be read',
    }
  }
  const openTargetCluster = async ({ kubeconfig, context, allowPrograms }: ClusterTarget) => {
    // Loaded lazily, because loading is slow and many Apps have no cluster.
    const { createKubeClusterClient: openCluster } = await import('../cluster/open-cluster.ts')
    const file = resolve(dirname(clusterTargetsFilePath), kubeconfig)
    return openCluster({ file, context, allowsPrograms: allowPrograms, clock: systemClock })
  }
  return handleClusterTestRequest(
    order,
    { targets, open: openTargetCluster, clock: systemClock },
    async (news) => (await callBack(news)) as ClusterTestProgressResponse,
  )
}

preventPrototypePollution()
serveWorkerRequests(handleClusterTestWorkerRequest)
