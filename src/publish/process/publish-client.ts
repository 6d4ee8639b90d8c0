// Sends orders to the processes that hold push credentials. The App's own process does not read those, and reads the
// administrator's list only to find mistakes at the start.
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { proxyEnvVariableNames } from '../../ports/proxy.ts'
import { findWorkerScript, pickVariables } from '../../adapters/workers/start-worker.ts'
import { WorkerPool } from '../../adapters/workers/worker-pool.ts'
import type {
  PublishIntentDecision,
  PublishIntentMessage,
  PublishResponse,
  PublishRequest,
} from './publish-protocol.ts'

/** Called with the digest before anything is written to a registry; decides whether to continue. */
export type PublishIntentCallback = (digest: string) => Promise<PublishIntentDecision>

export interface PublishClient {
  /** Rejects only if the process failed; rejections by a registry or the administrator are answers. */
  order(order: PublishRequest, onIntent?: PublishIntentCallback): Promise<PublishResponse>
  close(): Promise<void>
}

/** Variables for reaching registries and finding the administrator's list, without the App's pull secret. */
const forwardedEnvVariableNames = [
  'PUBLISH_TARGETS',
  'REGISTRIES_CONF',
  'CONTAINERS_REGISTRIES_CONF',
  'HOME',
  'XDG_CONFIG_HOME',
  'INTERNAL_REGISTRIES',
  'ONLY_REGISTRIES',
  'REGISTRY_CERTIFICATES',
  'INSECURE_REGISTRIES',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REGISTRY_PROXY',
  ...proxyEnvVariableNames,
  'no_proxy',
  'NO_PROXY',
] as const

/** Only the publishing process gets these; its children do not. */
const publishSecretEnvVariableNames = ['PUBLISH_CREDENTIALS', 'PUBLISH_KEY_PASSWORD'] as const

export type PublishEnvironment = Readonly<Record<string, string>>

/** Moves the publishing variables out of the environment, so that no other child process inherits push credentials. */
export function extractPublishEnvironment(
  environment: Record<string, string | undefined>,
): PublishEnvironment {
  const taken = pickVariables(environment, [...forwardedEnvVariableNames, ...publishSecretEnvVariableNames])
  for (const name of publishSecretEnvVariableNames) delete environment[name]
  return taken
}

/** Milliseconds for one order, such as a base image over a slow line. */
const publishRequestTimeoutMs = 20 * 60_000
/** Milliseconds until an idle process ends. */
const publishProcessIdleTimeoutMs = 10 * 60_000
const maxQueuedPublishRequests = 1000
/** Restarts a process after this many orders, to free the memory that it has accumulated. */
const maxPublishRequestsPerProcess = 500
/** Megabytes of heap; layers are outside it. */
const publishProcessHeapMegabytes = 2048

export function createPublishClient(environment: PublishEnvironment, processes = 2): PublishClient {
  const isAllowed = environment['PUBLISH_TARGETS'] !== undefined
  const pool = new WorkerPool<PublishRequest, PublishResponse>({
    script: findWorkerScript('publish-process', import.meta.url),
    environment,
    hasChildren: true,
    heap: publishProcessHeapMegabytes,
    niceness: 5,
    processes,
    maxWaiting: maxQueuedPublishRequests,
    maxOrders: maxPublishRequestsPerProcess,
    maxIdleMs: publishProcessIdleTimeoutMs,
    isPartitionedByKey: true,
    onFault(fault) {
      if (fault.code === 'closed') throw fault
      return { kind: 'failed', why: `the publishing process ended: ${fault.message}`, retryable: true }
    },
  })
  return {
    async order(order, onIntent) {
      if (!isAllowed)
        return { kind: 'refused', why: 'no push targets are configured (PUBLISH_TARGETS is not set)' }
      return pool.run(
        order,
        publishRequestTimeoutMs,
        async (message) => (await onIntent?.((message as PublishIntentMessage).digest)) ?? 'go',
        toPublishProcessPoolKey(order),
      )
    },
    close: () => pool.close(),
  }
}

/** Groups orders by repository and separates pull request content from the rest. */
function toPublishProcessPoolKey(order: PublishRequest): string {
  const purpose = order.kind === 'publish' ? order.purpose : 'catalog'
  return `${toRepositoryKey(order.github)} ${purpose}`
}
