// This folder's only error class.
import type { RateLimitResource } from './budget/request-limits.ts'

type HeaderGetter = (name: string) => string | null | undefined

export interface RateLimitQuota {
  readonly resource: RateLimitResource | undefined
  readonly limit: number
  readonly remaining: number
  /** Seconds since the epoch by GitHub's clock, equal in all answers of one hour. */
  readonly reset: number
  /** Milliseconds from now, because the clocks can differ. */
  readonly resetsIn: number
}

export interface RateLimitRejection {
  /** `primary`: the hour is used up. `secondary`: too much at once, which stops everything. */
  readonly kind: 'primary' | 'secondary'
  /** How long to wait. Absent if GitHub didn't specify it. */
  readonly seconds?: number
}

const maxRateLimitWaitSeconds = 3600

/** Seconds to wait by default. GitHub asks for at least a minute. */
export const defaultRateLimitWaitSeconds = 60

/** Anchored to GitHub's own sentences (old and new servers, GraphQL), so quoted text doesn't match. */
const isRateLimitMessage = (message: string): boolean =>
  /^(?:You have exceeded a secondary rate limit|You have triggered an abuse detection|API rate limit (?:already )?exceeded|RATE_LIMIT(?:ED)?$)/m.test(
    message,
  )

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
  readonly cause?: unknown
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
  // Octokit gives errors of the network the status 500.
  if (!isHttpError(error) || (error.status === 500 && error.response === undefined)) {
    const why = isInvalidResponseError(error)
      ? 'the response is not a valid response of GitHub'
      : 'GitHub is unreachable'
    return new ForgeError('unavailable', `could not ${doing}: ${why}`, { cause: error })
  }
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

/** A response that could not be parsed (github-fetch.ts), or in which a value is missing. */
const isInvalidResponseError = (error: unknown): boolean =>
  isHttpError(error)
    ? error.cause instanceof SyntaxError
    : error instanceof Error && /^(?:TypeError|ZodError)$/.test(error.name)

function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && typeof (error as Partial<HttpError>).status === 'number'
}

interface GraphqlError extends Error {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly errors?: readonly { readonly type?: string; readonly message?: string }[]
}

/** Rejects with a ForgeError. `doing` names the call, without token or body. */
export async function callGitHub<T>(doing: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    throw toForgeError(error, doing)
  }
}

/** Calls `onRejected` if GitHub permanently rejects the work. Rejects with all other errors. */
export async function catchRejection(
  work: Promise<unknown>,
  onRejected: (error: ForgeError) => unknown,
): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    await onRejected(error)
  }
}

/** Undefined instead of GitHub's answer that something does not exist. */
export async function catchNotFound<T>(sending: Promise<T>): Promise<T | undefined> {
  try {
    return await sending
  } catch (error) {
    if (toForgeError(error, 'read').code === 'not-found') return undefined
    throw error
  }
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

/** Undefined: not in the answer. `now`: used if the answer has no time. */
export function parseRateLimitQuota(headers: HeaderGetter, now: number): RateLimitQuota | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    parseHeaderNumber(headers(`x-ratelimit-${name}`)),
  )
  if (limit === undefined || remaining === undefined || reset === undefined || limit <= 0) return undefined
  const named = headers('x-ratelimit-resource')
  const resource = named === 'core' || named === 'graphql' || named === 'search' ? named : undefined
  return { resource, limit, remaining, reset, resetsIn: getMsUntilRateLimitReset(reset, headers, now) }
}

/** Undefined: not caused by a limit. `message`: GitHub's message. */
export function parseRateLimitRejection(
  status: number,
  headers: HeaderGetter,
  message: string,
): RateLimitRejection | undefined {
  const usedUp = headers('x-ratelimit-remaining') === '0'
  const after = parseHeaderNumber(headers('retry-after'))
  const isLimit =
    status === 429 ||
    (status === 403 && (usedUp || after !== undefined || isRateLimitMessage(message))) ||
    // GraphQL rejects with a 200.
    (status === 200 && isRateLimitMessage(message))
  if (!isLimit) return undefined
  if (after !== undefined && after > 0)
    return { kind: 'secondary', seconds: Math.min(after, maxRateLimitWaitSeconds) }
  const reset = parseHeaderNumber(headers('x-ratelimit-reset'))
  if (!usedUp || reset === undefined || reset <= 0) return { kind: usedUp ? 'primary' : 'secondary' }
  const seconds = Math.ceil(getMsUntilRateLimitReset(reset, headers, Date.now()) / 1000)
  return { kind: 'primary', seconds: Math.min(Math.max(1, seconds), maxRateLimitWaitSeconds) }
}

/** One second more, because the reset happens within the named second. */
function getMsUntilRateLimitReset(reset: number, headers: HeaderGetter, now: number): number {
  const theirs = Date.parse(headers('date') ?? '') || now
  return reset * 1000 - theirs + 1000
}

function parseHeaderNumber(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text.trim() === '') return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** `until`: milliseconds since the epoch, rounded up to the minute. The result has no period. */
export function formatRateLimit(until: number): string {
  const time = new Date(Math.ceil(until / 60_000) * 60_000).toISOString().slice(11, 16)
  return `the GitHub API rate limit for this installation was exceeded; catalog-bot continues at ${time} UTC`
}
