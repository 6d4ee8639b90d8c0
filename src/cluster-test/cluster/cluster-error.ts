// Messages contain no credentials and no API addresses.

export type ClusterErrorCode = 'kubeconfig' | 'unreachable' | 'unauthorized'

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
