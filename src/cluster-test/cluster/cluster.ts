// The cluster port: bounded reads and actions. Tests poll, because polling survives restarts of the API.
import type {
  ClusterAction,
  KubeQuery,
  RejectedClusterAction,
  KubeQueryResult,
} from '../../checks/install/cluster-test/kube-object.ts'
import type { DiscoveredClusterApis } from '../../checks/install/cluster-test/cluster-test-driver.ts'

type ClusterErrorCode = 'kubeconfig' | 'unreachable' | 'unauthorized'

export class ClusterError extends Error {
  readonly code: ClusterErrorCode

  constructor(code: ClusterErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ClusterError'
    this.code = code
  }

  get retryable(): boolean {
    return this.code === 'unreachable'
  }
}

export interface KubeClusterClient {
  /** @throws ClusterError */
  discover(): Promise<DiscoveredClusterApis>
  read(query: KubeQuery): Promise<KubeQueryResult>
  /** Resolves to undefined on success. A rejection or a missing response is a value. */
  perform(action: ClusterAction): Promise<RejectedClusterAction | undefined>
  /** Resolves to the last part of the log, or to an empty string if the log does not exist. */
  log(at: {
    readonly namespace: string
    readonly pod: string
    readonly container: string
    readonly previous: boolean
  }): Promise<string>
  close(): Promise<void>
}
