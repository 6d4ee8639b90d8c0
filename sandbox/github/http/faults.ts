// The world's misbehaviour on order: answers that fail, never come, come after the deed, or are old.

export interface FaultRequest {
  readonly method: string
  /** As GitHub's documentation writes it, `/repos/{owner}/{repo}/pulls`; git's are `/{owner}/{repo}.git/git-receive-pack`. */
  readonly template: string
  readonly path: string
  /** Of GraphQL: the operation's name. */
  readonly operation?: string
}

/** `METHOD /template`, or any question about the request. */
export type FaultMatcher = string | ((request: FaultRequest) => boolean)

export type FaultOutcome =
  /** Answered so, and not done. */
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** No answer until the client gives up; not done. */
  | { readonly timeout: true }
  /** Done, then answered with this status. */
  | { readonly applyThenFail: number }
  /** The connection is cut, before or after it was done. */
  | { readonly disconnect: 'before' | 'after' }

interface InjectedFault {
  readonly matches: (request: FaultRequest) => boolean
  readonly outcome: FaultOutcome
  remaining: number
}

function toFaultPredicate(matcher: FaultMatcher): (request: FaultRequest) => boolean {
  return typeof matcher === 'string' ? (it) => `${it.method} ${it.template}` === matcher : matcher
}

export class FaultInjector {
  readonly #faults: InjectedFault[] = []
  readonly #lagging: ((request: FaultRequest) => boolean)[] = []

  /** The next `times` matching requests end so. Returns a function that takes it back. */
  fail(matcher: FaultMatcher, outcome: FaultOutcome, times = 1): () => void {
    const fault: InjectedFault = { matches: toFaultPredicate(matcher), outcome, remaining: times }
    this.#faults.push(fault)
    return () => {
      fault.remaining = 0
    }
  }

  /** Matching reads are answered as they were last answered to the same caller, until taken back. */
  lag(matcher: FaultMatcher): () => void {
    const matches = toFaultPredicate(matcher)
    this.#lagging.push(matches)
    return () => {
      const index = this.#lagging.indexOf(matches)
      if (index >= 0) this.#lagging.splice(index, 1)
    }
  }

  take(request: FaultRequest): FaultOutcome | undefined {
    const fault = this.#faults.find((it) => it.remaining > 0 && it.matches(request))
    if (fault !== undefined) fault.remaining -= 1
    return fault?.outcome
  }

  lags(request: FaultRequest): boolean {
    return request.method === 'GET' && this.#lagging.some((matches) => matches(request))
  }

  clear(): void {
    this.#faults.length = 0
    this.#lagging.length = 0
  }
}

/** What GitHub answers when the hourly limit is used up (403 with a reset time) or calls come too fast (403 or 429). */
export function createRateLimitOutcome(
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
