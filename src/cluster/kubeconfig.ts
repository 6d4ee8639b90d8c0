// Who we are for a cluster's API, and how it is reached, by a kubeconfig. @kubernetes/client-node knows all the ways; what
// would run a program of its own is refused unless whoever gave the kubeconfig says so.
import { KubeConfig, RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import { ClusterError } from './cluster-error.ts'

export interface Connection {
  /** Without a slash at its end. */
  readonly server: string
  /** Headers for the next request: tokens are renewed. */
  headers(): Promise<Readonly<Record<string, string>>>
  readonly dispatcher: Dispatcher | undefined
  close(): Promise<void>
}

export interface KubeconfigOptions {
  /** Its place: files that it names lie beside it. */
  readonly file: string
  readonly context?: string | undefined
  /** Whether it may start programs for credentials (`exec`, `auth-provider`). */
  readonly allowsPrograms?: boolean
}

/** Milliseconds until headers are asked for again: tokens in files are replaced every hour or so. */
const headersFor = 60_000

/** Rejects with a ClusterError that says what is wrong, without a value of the file. */
export async function openConnection({
  file,
  context,
  allowsPrograms = false,
}: KubeconfigOptions): Promise<Connection> {
  const config = new KubeConfig()
  try {
    config.loadFromFile(file)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw new ClusterError('kubeconfig', `the kubeconfig cannot be read: ${code ?? 'it is no kubeconfig'}`)
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new ClusterError('kubeconfig', 'the kubeconfig has no such context')
    config.setCurrentContext(context)
  }
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  if (!cluster || !user)
    throw new ClusterError('kubeconfig', 'the kubeconfig has no cluster and user for its current context')
  if (!allowsPrograms && (user.exec !== undefined || user.authProvider !== undefined))
    throw new ClusterError(
      'kubeconfig',
      'the kubeconfig starts a program for its credentials, which is not allowed',
    )
  const first = await apply(config, cluster.server)
  let headers = first.getHeaders()
  let asked = performance.now()
  // The library makes an agent for every request: its connections would be made anew each time, and never closed.
  const dispatcher = first.getDispatcher()
  return {
    server: cluster.server.replace(/\/+$/, ''),
    dispatcher,
    async headers() {
      if (performance.now() - asked > headersFor) {
        asked = performance.now()
        const again = await apply(config, cluster.server)
        headers = again.getHeaders()
        await again.getDispatcher()?.close()
      }
      return headers
    },
    close: async () => dispatcher?.destroy(),
  }
}

async function apply(config: KubeConfig, server: string): Promise<RequestContext> {
  const context = new RequestContext(server, 'GET')
  try {
    await config.applySecurityAuthentication(context)
  } catch (error) {
    // Its words may hold paths and values.
    throw new ClusterError(
      'kubeconfig',
      'the kubeconfig cannot be used: its credentials or certificates are damaged or missing',
      error,
    )
  }
  return context
}
