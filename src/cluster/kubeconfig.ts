// Reads server and credentials from a kubeconfig. Security: programs that it names run only if the caller allows them.
import { KubeConfig, RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import { ClusterError } from './cluster-error.ts'

export interface ClusterConnection {
  /** Without a trailing slash. */
  readonly server: string
  /** Call it for each request, because tokens are renewed. */
  headers(): Promise<Readonly<Record<string, string>>>
  readonly dispatcher: Dispatcher | undefined
  close(): Promise<void>
}

export interface KubeconfigOptions {
  /** Path of the kubeconfig; relative paths in it start from its directory. */
  readonly file: string
  readonly context?: string | undefined
  /** Whether it may start programs for credentials (`exec`, `auth-provider`). */
  readonly allowsPrograms?: boolean
}

/** Milliseconds to cache headers; tokens in files change about hourly. */
const headerCacheMs = 60_000

/** @throws ClusterError with a message that contains no value of the file */
export async function openClusterConnection({
  file,
  context,
  allowsPrograms = false,
}: KubeconfigOptions): Promise<ClusterConnection> {
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
  const first = await resolveRequestContext(config, cluster.server)
  let headers = first.getHeaders()
  let requestedAt = performance.now()
  // The library makes an agent for every request, whose connections are never reused or closed.
  const dispatcher = first.getDispatcher()
  return {
    server: cluster.server.replace(/\/+$/, ''),
    dispatcher,
    async headers() {
      if (performance.now() - requestedAt > headerCacheMs) {
        requestedAt = performance.now()
        const again = await resolveRequestContext(config, cluster.server)
        headers = again.getHeaders()
        await again.getDispatcher()?.close()
      }
      return headers
    },
    close: async () => dispatcher?.destroy(),
  }
}

async function resolveRequestContext(config: KubeConfig, server: string): Promise<RequestContext> {
  const context = new RequestContext(server, 'GET')
  try {
    await config.applySecurityAuthentication(context)
  } catch (error) {
    // The library's message may contain paths and values.
    throw new ClusterError(
      'kubeconfig',
      'the kubeconfig cannot be used: its credentials or certificates are damaged or missing',
      error,
    )
  }
  return context
}
