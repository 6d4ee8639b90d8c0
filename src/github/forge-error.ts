// The one error of this floor: GitHub could not be asked, or would not do as asked.

export type ForgeErrorCode =
  'unauthorized' | 'forbidden' | 'not-found' | 'rate-limited' | 'rejected' | 'unavailable' | 'inconsistent'

export class ForgeError extends Error {
  readonly code: ForgeErrorCode
  /** Whether asking again later can help. */
  readonly retryable: boolean
  /** Seconds to wait before that, where GitHub said so. */
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

/** Turns whatever Octokit throws into a ForgeError. `doing` names the call: it never holds a token or a body. */
export function toForgeError(error: unknown, doing: string): ForgeError {
  if (error instanceof ForgeError) return error
  if (!isHttpError(error))
    return new ForgeError('unavailable', `${doing}: GitHub could not be reached`, { cause: error })
  const headers = error.response?.headers ?? {}
  const limited =
    error.status === 429 ||
    (error.status === 403 &&
      (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined))
  if (limited)
    return new ForgeError('rate-limited', `${doing}: GitHub's rate limit is reached`, {
      cause: error,
      retryAfter: waitOf(headers),
    })
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
  return new ForgeError(code, `${doing}: GitHub answered ${error.status}`, { cause: error })
}

function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && typeof (error as Partial<HttpError>).status === 'number'
}

const longestWait = 3600

/** Seconds: what `retry-after` says, else until the hour's limit begins anew, else a minute, as GitHub asks. */
function waitOf(headers: Readonly<Record<string, string | undefined>>): number {
  const after = Number(headers['retry-after'])
  if (Number.isFinite(after) && after > 0) return Math.min(after, longestWait)
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] !== '0' || !Number.isFinite(reset) || reset <= 0) return 60
  // By GitHub's own clock, which is not ours. One second more: it begins anew within the second that it names.
  const now = Date.parse(headers['date'] ?? '') || Date.now()
  return Math.min(Math.max(1, Math.ceil(reset - now / 1000) + 1), longestWait)
}
