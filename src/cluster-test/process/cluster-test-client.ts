// Sends orders to the process with the kubeconfigs, and serves it catalogs from processes without secrets. The App's
// own process does not read the administrator's list.
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { WorkerPool } from '../../adapters/workers/worker-pool.ts'
import type { ServeCatalogResponse, ServeCatalogRequest } from './catalog-process.ts'
import type {
  ClusterTestProgressResponse,
  ClusterTestWorkerResponse,
  ClusterTestProgress,
  ClusterTestWorkerRequest,
} from './cluster-test-protocol.ts'
import { findWorkerScript, pickVariables, WorkerFault } from '../../adapters/workers/start-worker.ts'

export interface ClusterTestClient {
  /** Rejects only if the App is closed; other failures are answers. */
  order(
    order: ClusterTestWorkerRequest,
    onNews?: (news: ClusterTestProgress) => Promise<ClusterTestProgressResponse>,
  ): Promise<ClusterTestWorkerResponse>
  /** Serves a catalog while `use` runs; undefined if that fails. */
  withServedCatalog<Result>(
    order: ServeCatalogRequest,
    use: (port: number) => Promise<Result>,
  ): Promise<Result | { readonly unserved: string }>
  close(): Promise<void>
}

/** Variables for network access and the administrator's list. */
const forwardedEnvVariableNames = [
  'CLUSTER_TARGETS',
  'HOME',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
] as const

/** Collects the variables and removes the list's path from the environment, so that no other process learns it. */
export function extractClusterTestEnvVariables(
  environment: Record<string, string | undefined>,
): Readonly<Record<string, string>> {
  const taken = pickVariables(environment, forwardedEnvVariableNames)
  delete environment['CLUSTER_TARGETS']
  return taken
}

/** Milliseconds for one order: three attempts with cleanup, without time spent waiting for the App. */
const clusterTestTimeoutMs = 3 * 3600_000
const workerIdleTimeoutMs = 5 * 60_000
const workerHeapMegabytes = 1024

export function createClusterTestClient(
  environment: Readonly<Record<string, string>>,
  processes = 2,
): ClusterTestClient {
  const isAllowed = environment['CLUSTER_TARGETS'] !== undefined
  const common = {
    heap: workerHeapMegabytes,
    niceness: 5,
    maxWaiting: 100,
    maxOrders: 100,
    maxIdleMs: workerIdleTimeoutMs,
    isPartitionedByKey: true,
    hasChildren: true,
  } as const
  const pool = new WorkerPool<ClusterTestWorkerRequest, ClusterTestWorkerResponse>({
    ...common,
    script: findWorkerScript('cluster-test-process', import.meta.url),
    environment,
    processes,
    onFault(fault) {
      if (fault.code === 'closed') throw fault
      return { kind: 'failed', why: `the install test process ended: ${fault.message}` }
    },
  })
  // Two catalogs per install test.
  const servers = new WorkerPool<ServeCatalogRequest, ServeCatalogResponse>({
    ...common,
    script: findWorkerScript('catalog-process', import.meta.url),
    processes: processes * 2,
    maxOrders: 1,
  })
  return {
    async order(order, onNews) {
      if (!isAllowed)
        return { kind: 'refused', why: 'no test cluster is configured (CLUSTER_TARGETS is not set)' }
      return pool.run(
        order,
        clusterTestTimeoutMs,
        async (news) => (await onNews?.(news as ClusterTestProgress)) ?? 'go',
        toRepositoryKey(order.github),
      )
    },
    withServedCatalog: (order, use) => runWithServedCatalog(servers, order, use),
    async close() {
      await Promise.all([pool.close(), servers.close()])
    },
  }
}

async function runWithServedCatalog<Result>(
  servers: WorkerPool<ServeCatalogRequest, ServeCatalogResponse>,
  order: ServeCatalogRequest,
  use: (port: number) => Promise<Result>,
): Promise<Result | { readonly unserved: string }> {
  const { promise: used, resolve, reject } = Promise.withResolvers<Result>()
  let isUsed = false
  const onServing = async (value: unknown): Promise<'done'> => {
    isUsed = true
    try {
      resolve(await use((value as { readonly port: number }).port))
    } catch (error) {
      reject(error)
    }
    return 'done'
  }
  try {
    const answer = await servers.run(order, clusterTestTimeoutMs, onServing, order.mirror)
    if (!isUsed) return { unserved: answer.kind === 'failed' ? answer.why : 'the catalog was not served' }
  } catch (error) {
    if (!(error instanceof WorkerFault) || error.code === 'closed') throw error
    if (!isUsed) return { unserved: error.message }
  }
  return used
}
