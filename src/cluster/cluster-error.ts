// The cluster's failures. Their words hold no credential, and no address of the API.

export type ClusterErrorCode =
  /** The kubeconfig cannot be used. */
  'kubeconfig' | 'unreachable' | 'unauthorized'

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
