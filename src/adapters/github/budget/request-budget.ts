// One installation's request budget, which serves requests by class and then in their order of arrival. Rejects a long
// wait with a time to retry, instead of blocking the job queue. Doesn't depend on HTTP, and measures time only with the
// local clock.
import type { Clock } from '../../../ports/clock.ts'
import { defaultRateLimitWaitSeconds, type RateLimitQuota, type RateLimitRejection } from '../forge-error.ts'
import {
  decideRequestThrottling,
  getNextThrottleCheckTime,
  type ThrottledRequest,
  type RequestWaitReason,
  type RequestThrottle,
  type WaitingRequest,
  type BudgetedRequest,
  getWorkPriorityRank,
  workPriorityClasses,
  type QuotaReserveByPriorityClass,
  type WorkPriorityClass,
  type GitHubRateLimits,
  type RateLimitResource,
} from './request-limits.ts'

/** Milliseconds between two resets. */
const rateLimitIntervalMsByResource: Readonly<Record<RateLimitResource, number>> = {
  core: 3600_000,
  graphql: 3600_000,
  search: 60_000,
}

/** Seconds by which reset times of the same hour can differ. */
const rateLimitResetToleranceSeconds = 5

interface RecordedRateLimitQuota {
  readonly limit: number
  remaining: number
  readonly reset: number
  /** In milliseconds of the local clock. */
  readonly resetAt: number
}

/** The rest of an installation's hourly limits, and how far each class may use it. */
class RateLimitQuotaTracker {
  readonly #known = new Map<RateLimitResource, RecordedRateLimitQuota>()
  readonly #pendingRequests = new Map<RateLimitResource, number>()

  /** Answers can overtake each other, so the lowest value of an hour counts, and earlier hours are ignored. */
  recordQuota(resource: RateLimitResource, quota: RateLimitQuota, now: number): void {
    const { limit, remaining, reset, resetsIn } = quota
    const known = this.#current(resource, now)
    if (known !== undefined && reset < known.reset - rateLimitResetToleranceSeconds) return
    if (known !== undefined && reset <= known.reset + rateLimitResetToleranceSeconds)
      known.remaining = Math.min(known.remaining, remaining)
    else this.#known.set(resource, { limit, remaining, reset, resetAt: now + Math.min(resetsIn, 3600_000) })
  }

  /** GitHub rejected a request, so nothing is left, regardless of earlier answers. */
  markExhausted(resource: RateLimitResource, milliseconds: number, now: number): void {
    const known = this.#current(resource, now)
    this.#known.set(resource, {
      limit: known?.limit ?? 1,
      remaining: 0,
      // Without a reset time, earlier answers don't count until it is over.
      reset: known?.reset ?? Infinity,
      resetAt: now + milliseconds,
    })
  }

  begin(resource: RateLimitResource): void {
    this.#pendingRequests.set(resource, (this.#pendingRequests.get(resource) ?? 0) + 1)
  }

  end(resource: RateLimitResource): void {
    this.#pendingRequests.set(resource, (this.#pendingRequests.get(resource) ?? 0) - 1)
  }

  /**
   * When a class with this reserve may ask; at once if not later than `now`. The reserve shrinks until the reset, so
   * requests that no class can use aren't withheld.
   */
  freeAt(resource: RateLimitResource, reserve: number, now: number): number {
    const known = this.#current(resource, now)
    if (known === undefined) return now
    // GitHub may not have counted the pending ones.
    const remaining = known.remaining - (this.#pendingRequests.get(resource) ?? 0)
    if (remaining <= 0) return known.resetAt
    const reserved = reserve * known.limit
    if (reserved === 0) return now
    return Math.min(
      known.resetAt,
      known.resetAt - ((remaining - 1) / reserved) * rateLimitIntervalMsByResource[resource],
    )
  }

  #current(resource: RateLimitResource, now: number): RecordedRateLimitQuota | undefined {
    const known = this.#known.get(resource)
    return known === undefined || known.resetAt <= now ? undefined : known
  }
}

/** The amount used within the last span of time. */
class SlidingWindowCounter {
  readonly #span: number
  readonly #limit: number
  readonly #entries: { readonly at: number; readonly amount: number }[] = []
  #sum = 0

  /** At most `limit` within `span` milliseconds. */
  constructor(limit: number, span: number) {
    this.#limit = limit
    this.#span = span
  }

  add(amount: number, now: number): void {
    if (this.#limit === Infinity) return
    this.#dropExpired(now)
    this.#entries.push({ at: now, amount })
    this.#sum += amount
  }

  /** When `amount` more fits, leaving `reserve` (a fraction) to others; at once if not later than `now`. */
  freeAt(amount: number, reserve: number, now: number): number {
    if (this.#limit === Infinity) return now
    this.#dropExpired(now)
    let excess = this.#sum + amount - this.#limit * (1 - reserve)
    if (excess <= 0) return now
    for (const entry of this.#entries) {
      excess -= entry.amount
      if (excess <= 0) return entry.at + this.#span
    }
    // A request whose cost exceeds the limit is sent alone.
    return this.#entries.length === 0 ? now : (this.#entries.at(-1)?.at ?? now) + this.#span
  }

  #dropExpired(now: number): void {
    while (this.#entries[0] !== undefined && this.#entries[0].at <= now - this.#span)
      this.#sum -= this.#entries.shift()?.amount ?? 0
  }
}

/** Leave to send one request. */
export interface RequestSendPermit {
  readonly kind: 'pass'
  recordResponse(answer: {
    readonly quota?: RateLimitQuota | undefined
    readonly rejection?: RateLimitRejection | undefined
    readonly isFailure: boolean
  }): void
  /** The request ended, with or without an answer. */
  end(): void
}

export interface RequestBudgetOptions {
  readonly limits: GitHubRateLimits
  readonly reserves: QuotaReserveByPriorityClass
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
}

/** Milliseconds: the longest pause after repeated rejections without a given time. */
const maxRateLimitPauseMs = 3600_000

interface PendingRequest extends WaitingRequest {
  readonly onDecision: (answer: RequestSendPermit | ThrottledRequest) => void
}

const msPerMinute = 60_000

export class RequestBudget {
  readonly #limits
  readonly #reserves
  readonly #clock
  readonly #quotas = new RateLimitQuotaTracker()
  readonly #points
  readonly #content
  readonly #line: PendingRequest[] = []
  #pendingRequests = 0
  #lastWrite = -Infinity
  #pausedUntil = -Infinity
  /** Consecutive rejections, not counting those during a pause. */
  #rejections = 0
  /** After a pause, a single request tests whether it is over. */
  #isProbing = false
  #alarm: AbortController | undefined

  constructor(options: RequestBudgetOptions) {
    const { limits, reserves, clock } = options
    this.#limits = limits
    this.#reserves = reserves
    this.#clock = clock
    this.#points = {
      rest: new SlidingWindowCounter(limits.restPoints, msPerMinute),
      graphql: new SlidingWindowCounter(limits.graphqlPoints, msPerMinute),
    }
    this.#content = [
      new SlidingWindowCounter(limits.contentPerMinute, msPerMinute),
      new SlidingWindowCounter(limits.contentPerHour, 60 * msPerMinute),
    ]
  }

  readonly acquirePass = (request: BudgetedRequest): Promise<RequestSendPermit | ThrottledRequest> =>
    new Promise((resolve) => {
      this.#line.push({ request, since: this.#elapsed(), onDecision: resolve })
      this.#grantNext()
    })

  readonly waiting = (work: WorkPriorityClass): number =>
    this.#line.filter(({ request }) => request.work === work).length

  /** Milliseconds until a job of this class can start; 0: now. */
  readonly getDelay = (work: WorkPriorityClass): number => {
    const now = this.#elapsed()
    const free = (['core', 'graphql'] as const).map((one) =>
      this.#quotas.freeAt(one, this.#reserves[work], now),
    )
    return Math.max(0, Math.max(this.#pausedUntil, ...free) - now)
  }

  #elapsed() {
    return this.#clock.elapsed?.() ?? this.#clock.now()
  }

  #pointsFor(resource: RateLimitResource) {
    return resource === 'graphql' ? this.#points.graphql : this.#points.rest
  }

  /** A job that has started may use half of its reserve, because restarting it costs more. */
  #getReserve({ work, hasBegun }: Pick<BudgetedRequest, 'work' | 'hasBegun'>): number {
    return hasBegun ? this.#reserves[work] / 2 : this.#reserves[work]
  }

  #findObstacles(request: BudgetedRequest, now: number): readonly RequestThrottle[] {
    const obstacles: RequestThrottle[] = []
    const add = (why: RequestWaitReason, until: number) => {
      if (until > now) obstacles.push({ why, until })
    }
    add('pause', this.#pausedUntil)
    // A token request is covered by its caller's permission, so it doesn't wait for others.
    if (request.isForToken) return obstacles
    if (this.#rejections > 0 && this.#isProbing) add('pause', Infinity)
    const reserve = this.#getReserve(request)
    add('quota', this.#quotas.freeAt(request.resource, reserve, now))
    if (this.#pendingRequests >= Math.max(1, this.#limits.concurrent * (1 - reserve))) add('slots', Infinity)
    add('points', this.#pointsFor(request.resource).freeAt(request.points, reserve, now))
    if (request.isWrite) add('writes', this.#lastWrite + this.#limits.writePause)
    if (request.createsContent)
      for (const recent of this.#content) add('content', recent.freeAt(1, reserve, now))
    return obstacles
  }

  #issuePass(request: BudgetedRequest, now: number): RequestSendPermit {
    const isProbe = this.#rejections > 0 && !request.isForToken
    if (!request.isForToken) {
      this.#pendingRequests += 1
      this.#quotas.begin(request.resource)
      this.#pointsFor(request.resource).add(request.points, now)
      if (request.isWrite) this.#lastWrite = now
      if (request.createsContent) for (const recent of this.#content) recent.add(1, now)
      if (isProbe) this.#isProbing = true
    }
    return {
      kind: 'pass',
      recordResponse: ({ quota, rejection, isFailure }) => {
        const then = this.#elapsed()
        // The App's own limit is separate.
        if (quota !== undefined && !request.isForToken)
          this.#quotas.recordQuota(quota.resource ?? request.resource, quota, then)
        if (rejection !== undefined)
          this.#applyLimitRejection(rejection, quota?.resource ?? request.resource, request.isForToken, then)
        else if (!isFailure && !request.isForToken && then >= this.#pausedUntil) this.#rejections = 0
      },
      end: () => {
        if (request.isForToken) return
        this.#pendingRequests -= 1
        this.#quotas.end(request.resource)
        if (isProbe) this.#isProbing = false
        this.#grantNext()
      },
    }
  }

  #applyLimitRejection(
    { kind, seconds }: RateLimitRejection,
    resource: RateLimitResource,
    isForToken: boolean,
    now: number,
  ): void {
    if (kind === 'primary' && !isForToken) {
      this.#quotas.markExhausted(resource, (seconds ?? defaultRateLimitWaitSeconds) * 1000, now)
      return
    }
    // Concurrent rejections count as one.
    if (now >= this.#pausedUntil) this.#rejections += 1
    const unsaid = Math.min(
      defaultRateLimitWaitSeconds * 1000 * 2 ** (this.#rejections - 1),
      maxRateLimitPauseMs,
    )
    this.#pausedUntil = Math.max(this.#pausedUntil, now + (seconds === undefined ? unsaid : seconds * 1000))
  }

  #grantNext(): void {
    this.#alarm?.abort()
    const now = this.#elapsed()
    let soonest = Infinity
    /** A request for five points must not starve behind later ones for one. */
    const short = new Set<object>()
    for (const one of this.#line.toSorted(
      (a, b) => getWorkPriorityRank(a.request.work) - getWorkPriorityRank(b.request.work),
    )) {
      const { request, onDecision } = one
      const obstacles = [...this.#findObstacles(request, now)]
      const its = this.#pointsFor(request.resource)
      if (obstacles.some(({ why }) => why === 'points')) short.add(its)
      else if (short.has(its) && !request.isForToken) obstacles.push({ why: 'points', until: Infinity })
      if (obstacles.length === 0) {
        this.#line.splice(this.#line.indexOf(one), 1)
        onDecision(this.#issuePass(request, now))
        continue
      }
      const held = decideRequestThrottling(one, obstacles, now)
      if (held === undefined) soonest = Math.min(soonest, getNextThrottleCheckTime(one, obstacles))
      else {
        this.#line.splice(this.#line.indexOf(one), 1)
        onDecision(held)
      }
    }
    if (soonest === Infinity) return
    const set = new AbortController()
    this.#alarm = set
    void this.#clock.sleep(Math.max(1, soonest - now), set.signal).then(() => {
      if (!set.signal.aborted) this.#grantNext()
    })
  }
}

/** The waiting classes and the longest wait. */
export function getThrottledPriorityClasses(budget: RequestBudget): {
  readonly works: readonly WorkPriorityClass[]
  readonly milliseconds: number
} {
  const works = workPriorityClasses.filter((work) => budget.getDelay(work) > 0)
  return { works, milliseconds: Math.max(0, ...works.map((work) => budget.getDelay(work))) }
}
