import type { ImageLookupResult } from '../../checks/lookups.ts'

// Seconds until a retry makes sense if the registry sends no `Retry-After`. Outages pass in minutes. Certificates and
// credentials take longer to fix.
const outageRetrySeconds = 60

const rateLimitRetrySeconds = 300

const configErrorRetrySeconds = 600

// Bounds for `Retry-After`: 0 would cause a tight retry loop, and some registries send years.
const [shortestWait, maxRetrySeconds] = [5, 6 * 3600]

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

/** Undefined instead of a RegistryError `missing`. */
export async function catchMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'missing') return undefined
    throw error
  }
}

/** Maps a registry failure to an answer. The answer is definite only if the registry's reply was definite. */
export function toImageLookupResult(error: unknown): ImageLookupResult {
  if (!(error instanceof RegistryError)) throw error
  const reason = error.message
  switch (error.code) {
    case 'missing':
    case 'malformed':
    case 'unsupported':
    case 'digest-mismatch':
    case 'blocked':
      return { kind: error.code, reason }
    case 'private':
      return { kind: 'missing-or-private', reason }
    case 'rate-limited':
      return { kind: 'unknown', reason, retryAfter: clampRetryAfter(error, rateLimitRetrySeconds) }
    case 'tls':
    case 'credentials':
    case 'too-large':
      return { kind: 'unknown', reason, retryAfter: configErrorRetrySeconds }
    case 'dns':
    case 'timeout':
    case 'network':
    case 'server':
    case 'bad-reply':
    case 'aborted':
      return { kind: 'unknown', reason, retryAfter: clampRetryAfter(error, outageRetrySeconds) }
  }
}

function clampRetryAfter({ retryAfter }: RegistryError, usual: number): number {
  return retryAfter === undefined ? usual : Math.min(Math.max(retryAfter, shortestWait), maxRetrySeconds)
}
