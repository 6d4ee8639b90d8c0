// The one error class of the registry floor. Inside the floor it carries what went wrong on the way to a
// registry; resolve() turns it into an answer, so it leaves the floor only from methods that promise content.

export type RegistryErrorCode =
  /** The egress policy forbids the request: a scheme, a name, an address, a port, a redirect. */
  | 'blocked'
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'network'
  /** More bytes than allowed. */
  | 'too-large'
  /** Our own credentials cannot be read, or the registry does not take them. */
  | 'credentials'
  /** Anonymous, or not entitled: the registry does not say whether the thing exists. */
  | 'private'
  | 'rate-limited'
  | 'server'
  /** The bytes are not those that the digest names. */
  | 'digest-mismatch'
  /** The registry's document is not what the protocol says. */
  | 'bad-reply'
  | 'missing'
  | 'malformed'
  | 'unsupported'
  | 'aborted'

export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly code: RegistryErrorCode
  /** True when asking again later may help. */
  readonly retryable: boolean
  /** Seconds that the registry asked us to wait, where it did. */
  readonly retryAfter: number | undefined
  /** Of the HTTP reply behind it, where there was one. */
  readonly status: number | undefined
  /** What the reply said it was: a page of a proxy says nothing of an image. */
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
    this.retryable = retryableCodes.has(code)
    this.retryAfter = options.retryAfter
    this.status = options.status
    this.contentType = options.contentType
  }
}

const retryableCodes: ReadonlySet<RegistryErrorCode> = new Set([
  'dns',
  'timeout',
  'network',
  'rate-limited',
  'server',
])
