// Reads the server and credentials from a kubeconfig. Security: runs a credential program only if the caller allows it.
import { KubeConfig, RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import { ClusterError } from './cluster.ts'

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
const authHeaderCacheTtlMs = 60_000

/** @throws ClusterError with a message that contains no value of the file */
export async function loadClusterConnection(options: KubeconfigOptions): Promise<ClusterConnection> {
  const { file, context, allowsPrograms = false } = options
  const config = new KubeConfig()
  try {
    config.loadFromFile(file)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw new ClusterError(
      'kubeconfig',
      `the kubeconfig cannot be read: ${code ?? 'the file is not a kubeconfig'}`,
    )
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new ClusterError('kubeconfig', 'the kubeconfig does not contain the specified context')
    config.setCurrentContext(context)
  }
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  if (!cluster || !user)
    throw new ClusterError(
      'kubeconfig',
      'the current context of the kubeconfig must specify both a cluster and a user',
    )
  if (!allowsPrograms && (user.exec !== undefined || user.authProvider !== undefined))
    throw new ClusterError(
      'kubeconfig',
      'the kubeconfig runs a program to get credentials, which is not allowed',
    )
  const first = await createAuthenticatedRequestContext(config, cluster.server)
  let headers = first.getHeaders()
  let requestedAt = performance.now()
  // The library creates an agent for every request and never reuses or closes its connections.
  const dispatcher = first.getDispatcher()
  return {
    server: cluster.server.replace(/\/+$/, ''),
    dispatcher,
    async headers() {
      if (performance.now() - requestedAt > authHeaderCacheTtlMs) {
        requestedAt = performance.now()
        const again = await createAuthenticatedRequestContext(config, cluster.server)
        headers = again.getHeaders()
        await again.getDispatcher()?.close()
      }
      return headers
    },
    close: async () => dispatcher?.destroy(),
  }
}

async function createAuthenticatedRequestContext(
  config: KubeConfig,
  server: string,
): Promise<RequestContext> {
  const context = new RequestContext(server, 'GET')
  try {
    await config.applySecurityAuthentication(context)
  } catch (error) {
    // The library's message can contain paths and values.
    throw new ClusterError(
      'kubeconfig',
      'the kubeconfig cannot be used: its credentials or certificates are invalid or missing',
      error,
    )
  }
  return context
}
