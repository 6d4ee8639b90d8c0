// Injected faults: answers that fail, never arrive, arrive after the action, or are outdated.

export interface FaultInjectionRequest {
  readonly method: string
  /**
   * As in GitHub's documentation, `/repos/{owner}/{repo}/pulls`. Git's paths are
   * `/{owner}/{repo}.git/git-receive-pack`.
   */
  readonly template: string
  readonly path: string
  /** The name of a GraphQL operation. */
  readonly operation?: string
}

/** `METHOD /template`, or any predicate on the request. */
export type FaultMatcher = string | ((request: FaultInjectionRequest) => boolean)

export type FaultOutcome =
  /** Answered this way, without any effect. */
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** No answer until the client gives up, without any effect. */
  | { readonly timeout: true }
  /** Processed, and then answered with this status. */
  | { readonly applyThenFail: number }
  /** The connection is closed, before or after the request is processed. */
  | { readonly disconnect: 'before' | 'after' }

interface InjectedFault {
  readonly matches: (request: FaultInjectionRequest) => boolean
  readonly outcome: FaultOutcome
  remaining: number
}

function toFaultPredicate(matcher: FaultMatcher): (request: FaultInjectionRequest) => boolean {
  return typeof matcher === 'string' ? (it) => `${it.method} ${it.template}` === matcher : matcher
}

export class FaultInjector {
  readonly #faults: InjectedFault[] = []
  readonly #lagging: ((request: FaultInjectionRequest) => boolean)[] = []

  /** Makes the next `times` matching requests fail this way. Returns a function that cancels it. */
  fail(matcher: FaultMatcher, outcome: FaultOutcome, times = 1): () => void {
    const fault: InjectedFault = { matches: toFaultPredicate(matcher), outcome, remaining: times }
    this.#faults.push(fault)
    return () => {
      fault.remaining = 0
    }
  }

  /** Matching reads repeat their last answer to the same caller, until canceled. */
  lag(matcher: FaultMatcher): () => void {
    const matches = toFaultPredicate(matcher)
    this.#lagging.push(matches)
    return () => {
      const index = this.#lagging.indexOf(matches)
      if (index >= 0) this.#lagging.splice(index, 1)
    }
  }

  take(request: FaultInjectionRequest): FaultOutcome | undefined {
    const fault = this.#faults.find((it) => it.remaining > 0 && it.matches(request))
    if (fault !== undefined) fault.remaining -= 1
    return fault?.outcome
  }

  lags(request: FaultInjectionRequest): boolean {
    return request.method === 'GET' && this.#lagging.some((matches) => matches(request))
  }

  clear(): void {
    this.#faults.length = 0
    this.#lagging.length = 0
  }
}

/**
 * GitHub's answer when the hourly limit is used up (403 with a reset time) or calls are too frequent (403 or 429).
 */
export function createRateLimitFaultOutcome(
  kind: 'primary' | 'secondary',
  nowSeconds: number,
  waitSeconds: number,
): FaultOutcome {
  const documentation_url = 'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api'
  return kind === 'primary'
    ? {
        status: 403,
        body: { message: 'API rate limit exceeded for installation.', documentation_url },
        headers: {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Math.ceil(nowSeconds + waitSeconds)),
        },
      }
    : {
        status: 429,
        body: {
          message:
            'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
          documentation_url,
        },
        headers: { 'retry-after': String(waitSeconds) },
      }
}
