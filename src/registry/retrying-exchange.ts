// Exchanges that are repeated where that can help: back-off, Retry-After, a window per host and kind of request,
// and no queue of attempts at a host that was found dead a moment ago.
import type { Clock } from '../ports/clock.ts'
import { adaptiveWindow, type AdaptiveWindow, type WindowLimits } from './transport/adaptive-window.ts'
import type { AuthorizedExchange, RegistryRequest } from './auth/authorized-exchange.ts'
import { RegistryError } from './registry-error.ts'
import { failureOf } from './transport/reply-failure.ts'
import type { Reply } from './transport/transport.ts'

export interface RetryPolicy {
  /** Attempts in all. Default 4. */
  readonly attempts: number
  /** Milliseconds before the second attempt; doubles with each, with up to half as much again at random. Default 500. */
  readonly backOff: number
  /** The longest that one wait may be, in seconds; a registry that asks for more is left alone. Default 60. */
  readonly longestWait: number
  /** How many requests of a kind may be under way to a host. Default from 8 to 64. */
  readonly window: WindowLimits
  /** Windows of registries that are known to be touchy. Default quay.io from 4. */
  readonly windows: Readonly<Record<string, WindowLimits>>
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 4,
  backOff: 500,
  longestWait: 60,
  window: { start: 8, most: 64 },
  windows: { 'quay.io': { start: 4, most: 32 } },
}

/** Uploads are steps of a session: a step that failed is never repeated, the session is begun anew by who knows how. */
export type RequestKind = 'head' | 'manifest' | 'blob' | 'write' | 'upload'

/** Resolves with a 2xx reply, rejects with a RegistryError that says what every other one means. */
export type RetryingExchange = (request: RegistryRequest, kind: RequestKind) => Promise<Reply>

// A host that could not be reached by one request is not tried by the hundreds behind it.
const deadFor = 15_000

export function retryingExchange(
  exchange: AuthorizedExchange,
  patience: RetryPolicy,
  clock: Clock,
  random: () => number,
): RetryingExchange {
  const windows = new Map<string, AdaptiveWindow>()
  const dead = new Map<string, { readonly until: number; readonly error: RegistryError }>()

  function windowOf(host: string, kind: RequestKind): AdaptiveWindow {
    const key = `${kind} ${host}`
    let window = windows.get(key)
    if (!window) {
      window = adaptiveWindow(patience.windows[host] ?? patience.window, clock)
      windows.set(key, window)
    }
    return window
  }

  return async (request, kind) => {
    const { endpoint } = request
    const window = windowOf(endpoint.host, kind)
    for (let attempt = 1; ; attempt += 1) {
      const failure = await window.run(async () => {
        const grave = dead.get(endpoint.host)
        if (grave && grave.until > clock.now()) return { error: grave.error, final: true }
        try {
          const reply = await exchange(request)
          const ok = reply.status >= 200 && reply.status < 300
          const error = ok ? undefined : failureOf(reply, clock.now(), endpoint.name)
          if (error?.code === 'rate-limited') window.limited(pauseAfter(error, attempt))
          else if (error?.code !== 'server') window.succeeded()
          return ok ? { reply } : { error: error as RegistryError, final: false }
        } catch (error) {
          if (!(error instanceof RegistryError)) throw error
          if (error.code === 'rate-limited') window.limited(pauseAfter(error, attempt))
          return { error, final: false }
        }
      })
      if (failure.reply) return failure.reply
      const { error } = failure
      // A HEAD that fails at the server gets its second opinion from GET at once, not from more HEADs.
      const isOnce = kind === 'upload' || (kind === 'head' && error.code === 'server')
      const repeats = error.retryable && !isOnce && !failure.final
      const wait = error.retryAfter === undefined ? pauseAfter(error, attempt) : error.retryAfter * 1000
      if (!repeats || attempt >= patience.attempts || wait > patience.longestWait * 1000) {
        // One upload that broke says nothing of the host: large bodies are cut off by proxies.
        if (['dns', 'network', 'timeout'].includes(error.code) && !failure.final && kind !== 'upload')
          dead.set(endpoint.host, { until: clock.now() + deadFor, error })
        throw error
      }
      if (request.signal?.aborted) throw new RegistryError('aborted', 'the request was cancelled')
      await clock.sleep(wait, request.signal)
    }
  }

  function pauseAfter(error: RegistryError, attempt: number): number {
    if (error.retryAfter !== undefined) return Math.min(error.retryAfter, patience.longestWait) * 1000
    const base = patience.backOff * 2 ** (attempt - 1)
    return Math.min(base * (1 + random() / 2), patience.longestWait * 1000)
  }
}
