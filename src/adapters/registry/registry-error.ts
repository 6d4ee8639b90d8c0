// The registry folder's only error class. resolve() turns it into an answer; methods that return content throw it.

export type RegistryErrorCode =
  /** The egress policy forbids the scheme, name, address, port or redirect. */
  | 'blocked'
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'network'
  | 'too-large'
  /** The configured credentials cannot be read, or the registry rejects them. */
  | 'credentials'
  | 'private'
  | 'rate-limited'
  | 'server'
  /** The bytes do not match the digest. */
  | 'digest-mismatch'
  | 'bad-reply'
  | 'missing'
  | 'malformed'
  | 'unsupported'
  | 'aborted'

export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly code: RegistryErrorCode
  readonly retryable: boolean
  /** Seconds from the registry's `Retry-After`. */
  readonly retryAfter: number | undefined
  readonly status: number | undefined
  /** Lets callers recognize a proxy's page, which says nothing about the image. */
  readonly contentType: string | undefined

  constructor(
    code: RegistryErrorCode,
    message: string,
    options: {
      readonly cause?: unknown
      readonly retryAfter?: number | undefined
      readonly status?: number | undefined
      readonly contentType?: string | undefined
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.retryable = retryableRegistryErrorCodes.has(code)
    this.retryAfter = options.retryAfter
    this.status = options.status
    this.contentType = options.contentType
  }
}

const retryableRegistryErrorCodes: ReadonlySet<RegistryErrorCode> = new Set([
  'dns',
  'timeout',
  'network',
  'rate-limited',
  'server',
])
