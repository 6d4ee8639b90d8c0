// Retries with back-off and Retry-After, limits concurrency per host and request kind, and skips hosts that just
// failed.
import pLimit from 'p-limit'
import type { Clock } from '../../ports/clock.ts'
import type { AuthorizedRequestSender, RegistryHttpRequest } from './auth/authorized-request.ts'
import { RegistryError } from './registry-error.ts'
import { toRegistryResponseError } from './transport/response-error.ts'
import type { TransportResponse } from './transport/transport.ts'

interface CancelableClock extends Clock {
  /** Every pending and later sleep rejects with a RegistryError (`aborted`). */
  close(): void
}

interface AdaptiveConcurrencyLimit {
  /** Waits for a slot, runs the work, releases the slot. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  succeeded(): void
  /** Halves the window and starts nothing for `pause` milliseconds. */
  limited(pause: number): void
  readonly size: number
  readonly active: number
}

interface AdaptiveConcurrencyOptions {
  readonly start: number
  readonly max: number
}

export interface RetryPolicy {
  /** Total number of attempts. Default 4. */
  readonly attempts: number
  /** Milliseconds before the second attempt; doubles each time, plus up to 50% jitter. Default 500. */
  readonly backOffMs: number
  /** The longest wait, in seconds. If a registry asks for more, the request is not retried. Default 60. */
  readonly maxWaitSeconds: number
  /** Concurrent requests of a kind to a host. Default from 8 to 64. */
  readonly window: AdaptiveConcurrencyOptions
  /** Windows for registries with strict rate limits. Default: quay.io from 4. */
  readonly windows: Readonly<Record<string, AdaptiveConcurrencyOptions>>
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 4,
  backOffMs: 500,
  maxWaitSeconds: 60,
  window: { start: 8, max: 64 },
  windows: { 'quay.io': { start: 4, max: 32 } },
}

/** Upload steps are never retried one by one; the caller restarts the session. */
export type RegistryRequestKind = 'head' | 'manifest' | 'blob' | 'write' | 'upload'

/** Resolves with a 2xx reply; rejects with a RegistryError for every other one. */
export type RetryingRequestSender = (
  request: RegistryHttpRequest,
  kind: RegistryRequestKind,
) => Promise<TransportResponse>

// Milliseconds in which an unreachable host gets no further requests.
const unreachableHostBackOffMs = 15_000

export function createRetryingRequestSender(
  exchange: AuthorizedRequestSender,
  retryPolicy: RetryPolicy,
  clock: Clock,
  random: () => number,
): RetryingRequestSender {
  const windows = new Map<string, AdaptiveConcurrencyLimit>()
  const dead = new Map<string, { readonly until: number; readonly error: RegistryError }>()

  function getWindow(host: string, kind: RegistryRequestKind): AdaptiveConcurrencyLimit {
    const key = `${kind} ${host}`
    let window = windows.get(key)
    if (!window) {
      window = createAdaptiveConcurrencyLimit(retryPolicy.windows[host] ?? retryPolicy.window, clock)
      windows.set(key, window)
    }
    return window
  }

  return async (request, kind) => {
    const { endpoint } = request
    const window = getWindow(endpoint.host, kind)
    for (let attempt = 1; ; attempt += 1) {
      const failure = await window.run(async () => {
        const grave = dead.get(endpoint.host)
        if (grave && grave.until > clock.now()) return { error: grave.error, final: true }
        try {
          const reply = await exchange(request)
          const ok = reply.status >= 200 && reply.status < 300
          const error = ok ? undefined : toRegistryResponseError(reply, clock.now(), endpoint.name)
          if (error?.code === 'rate-limited') window.limited(computePauseMs(error, attempt))
          else if (error?.code !== 'server') window.succeeded()
          return ok ? { reply } : { error: error as RegistryError, final: false }
        } catch (error) {
          if (!(error instanceof RegistryError)) throw error
          if (error.code === 'rate-limited') window.limited(computePauseMs(error, attempt))
          return { error, final: false }
        }
      })
      if (failure.reply) return failure.reply
      const { error } = failure
      // A HEAD that fails at the server falls back to GET immediately.
      const isOnce = kind === 'upload' || (kind === 'head' && error.code === 'server')
      const repeats = error.retryable && !isOnce && !failure.final && !isUnknownHost(error)
      const wait = error.retryAfter === undefined ? computePauseMs(error, attempt) : error.retryAfter * 1000
      if (!repeats || attempt >= retryPolicy.attempts || wait > retryPolicy.maxWaitSeconds * 1000) {
        // One broken upload says nothing about the host, because proxies cut off large bodies.
        if (['dns', 'network', 'timeout'].includes(error.code) && !failure.final && kind !== 'upload')
          dead.set(endpoint.host, { until: clock.now() + unreachableHostBackOffMs, error })
        throw error
      }
      if (request.signal?.aborted) throw new RegistryError('aborted', 'the request was canceled')
      await clock.sleep(wait, request.signal)
    }
  }

  function computePauseMs(error: RegistryError, attempt: number): number {
    if (error.retryAfter !== undefined) return Math.min(error.retryAfter, retryPolicy.maxWaitSeconds) * 1000
    const base = retryPolicy.backOffMs * 2 ** (attempt - 1)
    return Math.min(base * (1 + random() / 2), retryPolicy.maxWaitSeconds * 1000)
  }
}

/** The name server answered that the name does not exist. A later evaluation asks again, so this one does not wait. */
function isUnknownHost({ code, cause }: RegistryError): boolean {
  return code === 'dns' && cause instanceof Error && 'code' in cause && cause.code === 'ENOTFOUND'
}

/** Adaptive concurrency per host and request kind. A success adds one slot; a rate limit halves the slots once per wave. */
export function createAdaptiveConcurrencyLimit(
  limits: AdaptiveConcurrencyOptions,
  clock: Clock,
): AdaptiveConcurrencyLimit {
  const limit = pLimit(limits.start)
  let pausedUntil = 0
  // Work that started before the last halving does not halve it again.
  let epoch = 0

  return {
    run: (work) =>
      limit(async () => {
        for (let pause = pausedUntil - clock.now(); pause > 0; pause = pausedUntil - clock.now())
          await clock.sleep(pause)
        return work()
      }),
    succeeded() {
      if (limit.concurrency < limits.max) limit.concurrency += 1
    },
    limited(pause) {
      const now = clock.now()
      if (now >= epoch) {
        limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2))
        epoch = now + Math.max(pause, 1000)
      }
      pausedUntil = Math.max(pausedUntil, now + pause)
    },
    get size() {
      return limit.concurrency
    },
    get active() {
      return limit.activeCount
    },
  }
}

export function createCancelableClock(clock: Clock): CancelableClock {
  // Uses one controller per sleep, because a client-wide signal would accumulate listeners.
  const sleeping = new Set<AbortController>()
  let closed = false

  function throwIfClosed(): void {
    if (closed) throw new RegistryError('aborted', 'catalog-bot is shutting down')
  }

  return {
    now: () => clock.now(),
    async sleep(milliseconds, signal) {
      throwIfClosed()
      if (signal?.aborted) return
      const woken = new AbortController()
      signal?.addEventListener('abort', () => woken.abort())
      sleeping.add(woken)
      try {
        await clock.sleep(milliseconds, woken.signal)
      } finally {
        sleeping.delete(woken)
      }
      throwIfClosed()
    },
    close() {
      closed = true
      for (const woken of sleeping) woken.abort()
    },
  }
}
