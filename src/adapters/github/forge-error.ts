// This folder's only error class.
import { formatRateLimit } from '../../report/format-rate-limit.ts'
import { parseRateLimitRejection, defaultRateLimitWaitSeconds } from './rate-limit-response.ts'

export type ForgeErrorCode =
  'unauthorized' | 'forbidden' | 'not-found' | 'rate-limited' | 'rejected' | 'unavailable' | 'inconsistent'

export class ForgeError extends Error {
  readonly code: ForgeErrorCode
  readonly retryable: boolean
  /** Seconds that GitHub asked to wait. */
  readonly retryAfter: number

  constructor(code: ForgeErrorCode, message: string, options: { cause?: unknown; retryAfter?: number } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ForgeError'
    this.code = code
    this.retryable = code === 'unavailable' || code === 'rate-limited' || code === 'inconsistent'
    this.retryAfter = options.retryAfter ?? (code === 'inconsistent' ? 2 : 60)
  }
}

interface HttpError {
  readonly status: number
  readonly message: string
  readonly response?: { readonly headers?: Readonly<Record<string, string | undefined>> }
}

/** Converts any Octokit error. `doing` names the call, without token or body. */
export function toForgeError(error: unknown, doing: string): ForgeError {
  if (error instanceof ForgeError) return error
  const rejection = findRateLimitRejection(error)
  if (rejection !== undefined) {
    const retryAfter = rejection.seconds ?? defaultRateLimitWaitSeconds
    const message = `could not ${doing}: ${formatRateLimit(Date.now() + retryAfter * 1000)}`
    return new ForgeError('rate-limited', message, { cause: error, retryAfter })
  }
  if (!isHttpError(error))
    return new ForgeError('unavailable', `could not ${doing}: GitHub is unreachable`, { cause: error })
  const code: ForgeErrorCode =
    error.status === 401
      ? 'unauthorized'
      : error.status === 403
        ? 'forbidden'
        : error.status === 404 || error.status === 410
          ? 'not-found'
          : error.status >= 400 && error.status < 500 && error.status !== 408
            ? 'rejected'
            : 'unavailable'
  return new ForgeError(code, `could not ${doing}: GitHub returned HTTP ${error.status}`, { cause: error })
}

function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && typeof (error as Partial<HttpError>).status === 'number'
}

interface GraphqlError extends Error {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly errors?: readonly { readonly type?: string; readonly message?: string }[]
}

/** GraphQL reports a reached limit with a success status. */
function findRateLimitRejection(error: unknown) {
  if (isHttpError(error)) {
    const headers = error.response?.headers ?? {}
    return parseRateLimitRejection(error.status, (name) => headers[name], error.message)
  }
  if (!(error instanceof Error) || error.name !== 'GraphqlResponseError') return undefined
  const { headers, errors = [] } = error as GraphqlError
  const messages = errors.map(({ type, message }) => `${type}\n${message}`).join('\n')
  return parseRateLimitRejection(200, (name) => headers[name], messages)
}
