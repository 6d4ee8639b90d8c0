// Gives orders to processes that hold the credentials for pushing. The App's own process has only the name of the
// operator's list: it reads neither that nor a credential.
import { extname } from 'node:path'
import { repositoryKey } from '../../change/repository-key.ts'
import { proxyVariables } from '../../ports/proxy.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import type { IntendAnswer, Intending, PublishAnswer, PublishOrder } from './publish-order.ts'

/** Hears of the digest before anything is written to a registry, and says whether to go on. */
export type OnIntent = (digest: string) => Promise<IntendAnswer>

export interface Publishing {
  /** Rejects only when the process failed; what a registry or the operator refuses is an answer. */
  order(order: PublishOrder, onIntent?: OnIntent): Promise<PublishAnswer>
  close(): Promise<void>
}

/** Variables that say how registries are reached, and where the operator's list is. None of them is the App's pull secret. */
const handedOn = [
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
  ...proxyVariables,
  'no_proxy',
  'NO_PROXY',
] as const

/** What the publishing process alone may have, and keeps from whatever it starts. */
const publishSecrets = ['PUBLISH_CREDENTIALS', 'PUBLISH_KEY_PASSWORD'] as const

export type PublishEnvironment = Readonly<Record<string, string>>

/**
 * What the publishing process gets, taken out of the environment: from here on no other process that the App starts
 * inherits a credential for pushing.
 */
export function takePublishEnvironment(environment: Record<string, string | undefined>): PublishEnvironment {
  const taken: Record<string, string> = {}
  for (const name of handedOn) if (environment[name]) taken[name] = environment[name]
  for (const name of publishSecrets) {
    if (environment[name]) taken[name] = environment[name]
    delete environment[name]
  }
  return taken
}

/** Milliseconds for one order: a base image's layers over a slow line. */
const longestOrder = 20 * 60_000
/** Milliseconds that a process waits for another order. */
const longestRest = 10 * 60_000
const mostWaiting = 1000
/** What may have gathered in a process goes. */
const mostOrders = 500
/** Megabytes of heap; layers lie outside it. */
const heap = 2048

export function openPublishing(environment: PublishEnvironment, processes = 2): Publishing {
  const isAllowed = environment['PUBLISH_TARGETS'] !== undefined
  const pool = openWorkerPool<PublishOrder, PublishAnswer>({
    script: new URL(`./publish-process${extname(import.meta.url)}`, import.meta.url),
    environment,
    hasChildren: true,
    heap,
    niceness: 5,
    processes,
    mostWaiting,
    mostOrders,
    longestRest,
    isForOneKey: true,
  })
  return {
    async order(order, onIntent) {
      if (!isAllowed)
        return {
          kind: 'refused',
          why: 'the operator of the App lets nobody push: PUBLISH_TARGETS is not set',
        }
      let failed: { readonly error: unknown } | undefined
      const callBack = async (asked: unknown): Promise<IntendAnswer> => {
        try {
          return (await onIntent?.((asked as Intending).digest)) ?? 'go'
        } catch (error) {
          failed = { error }
          throw error
        }
      }
      try {
        return await pool.run(order, longestOrder, callBack, keyOf(order))
      } catch (error) {
        if (failed !== undefined) throw failed.error
        if (!(error instanceof WorkerFault) || error.code === 'closed') throw error
        return { kind: 'failed', why: `the publishing process ended: ${error.message}`, retryable: true }
      }
    },
    close: () => pool.close(),
  }
}

/** Whose orders share a process: those of one repository, and what pull requests contain apart from the rest. */
function keyOf(order: PublishOrder): string {
  const purpose = order.kind === 'publish' ? order.purpose : 'catalog'
  return `${repositoryKey(order.github)} ${purpose}`
}
