// One installation's request budget: by class, then first come first served. Long waits are rejected with a time instead
// of blocking the job queue. Knows nothing of HTTP; times are spans of our own clock.
import type { Clock } from '../../../ports/clock.ts'
import { defaultWaitSeconds, type RateLimitQuota, type RateLimitRejection } from '../rate-limit-response.ts'
import type { GitHubLimits } from './github-limits.ts'
import { RateLimitQuotas } from './rate-limit-quotas.ts'
import { SlidingWindowUsage } from './recent-usage.ts'
import type { RateLimitResource } from './request-cost.ts'
import {
  decideHold,
  getNextCheckTime,
  type HeldRequest,
  type WaitReason,
  type WaitObstacle,
  type WaitingRequest,
  type BudgetRequest,
} from './wait-policy.ts'
import { getWorkClassRank, workClasses, type QuotaReserveByWorkClass, type WorkClass } from './work-class.ts'

/** Leave to send one request. */
export interface RequestPass {
  readonly kind: 'pass'
  recordResponse(answer: {
    readonly quota?: RateLimitQuota | undefined
    readonly rejection?: RateLimitRejection | undefined
    readonly isFailure: boolean
  }): void
  /** The request ended, with or without an answer. */
  end(): void
}

export interface RequestBudget {
  acquirePass(request: BudgetRequest): Promise<RequestPass | HeldRequest>
  waiting(work: WorkClass): number
  /** Milliseconds until a job of this class can start; 0: now. */
  getDelay(work: WorkClass): number
}

export interface RequestBudgetOptions {
  readonly limits: GitHubLimits
  readonly reserves: QuotaReserveByWorkClass
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
}

/** Milliseconds: the longest pause after repeated rejections without a given time. */
const maxPauseMs = 3600_000

interface PendingRequest extends WaitingRequest {
  readonly onDecision: (answer: RequestPass | HeldRequest) => void
}

const minuteMs = 60_000

export function createRequestBudget({ limits, reserves, clock }: RequestBudgetOptions): RequestBudget {
  const elapsed = () => clock.elapsed?.() ?? clock.now()
  const quotas = new RateLimitQuotas()
  const points = {
    rest: new SlidingWindowUsage(limits.restPoints, minuteMs),
    graphql: new SlidingWindowUsage(limits.graphqlPoints, minuteMs),
  }
  const content = [
    new SlidingWindowUsage(limits.contentPerMinute, minuteMs),
    new SlidingWindowUsage(limits.contentPerHour, 60 * minuteMs),
  ]
  const line: PendingRequest[] = []
  let underWay = 0
  let lastWrite = -Infinity
  let pausedUntil = -Infinity
  /** Consecutive rejections, not counting those during a pause. */
  let rejections = 0
  /** After a pause, a single request tests whether it is over. */
  let isProbing = false
  let alarm: AbortController | undefined

  const pointsFor = (resource: RateLimitResource) => (resource === 'graphql' ? points.graphql : points.rest)

  /** A job under way may use half as much again, because restarting it costs more. */
  const getReserve = ({ work, hasBegun }: Pick<BudgetRequest, 'work' | 'hasBegun'>): number =>
    hasBegun ? reserves[work] / 2 : reserves[work]

  function findObstacles(request: BudgetRequest, now: number): readonly WaitObstacle[] {
    const obstacles: WaitObstacle[] = []
    const add = (why: WaitReason, until: number) => {
      if (until > now) obstacles.push({ why, until })
    }
    add('pause', pausedUntil)
    // A token request has its caller's leave, so it doesn't wait for others.
    if (request.isForToken) return obstacles
    if (rejections > 0 && isProbing) add('pause', Infinity)
    const reserve = getReserve(request)
    add('quota', quotas.freeAt(request.resource, reserve, now))
    if (underWay >= Math.max(1, limits.concurrent * (1 - reserve))) add('slots', Infinity)
    add('points', pointsFor(request.resource).freeAt(request.points, reserve, now))
    if (request.isWrite) add('writes', lastWrite + limits.writePause)
    if (request.createsContent) for (const recent of content) add('content', recent.freeAt(1, reserve, now))
    return obstacles
  }

  function issuePass(request: BudgetRequest, now: number): RequestPass {
    const isProbe = rejections > 0 && !request.isForToken
    if (!request.isForToken) {
      underWay += 1
      quotas.begin(request.resource)
      pointsFor(request.resource).add(request.points, now)
      if (request.isWrite) lastWrite = now
      if (request.createsContent) for (const recent of content) recent.add(1, now)
      if (isProbe) isProbing = true
    }
    return {
      kind: 'pass',
      recordResponse({ quota, rejection, isFailure }) {
        const then = elapsed()
        // The App's own limit is separate.
        if (quota !== undefined && !request.isForToken)
          quotas.recordQuota(quota.resource ?? request.resource, quota, then)
        if (rejection !== undefined)
          applyLimitRejection(rejection, quota?.resource ?? request.resource, request.isForToken, then)
        else if (!isFailure && !request.isForToken && then >= pausedUntil) rejections = 0
      },
      end() {
        if (request.isForToken) return
        underWay -= 1
        quotas.end(request.resource)
        if (isProbe) isProbing = false
        grantNext()
      },
    }
  }

  function applyLimitRejection(
    { kind, seconds }: RateLimitRejection,
    resource: RateLimitResource,
    isForToken: boolean,
    now: number,
  ): void {
    if (kind === 'primary' && !isForToken) {
      quotas.markExhausted(resource, (seconds ?? defaultWaitSeconds) * 1000, now)
      return
    }
    // Concurrent rejections count as one.
    if (now >= pausedUntil) rejections += 1
    const unsaid = Math.min(defaultWaitSeconds * 1000 * 2 ** (rejections - 1), maxPauseMs)
    pausedUntil = Math.max(pausedUntil, now + (seconds === undefined ? unsaid : seconds * 1000))
  }

  function grantNext(): void {
    alarm?.abort()
    const now = elapsed()
    let soonest = Infinity
    /** A request for five points must not starve behind later ones for one. */
    const short = new Set<object>()
    for (const one of line.toSorted(
      (a, b) => getWorkClassRank(a.request.work) - getWorkClassRank(b.request.work),
    )) {
      const { request, onDecision } = one
      const obstacles = [...findObstacles(request, now)]
      const its = pointsFor(request.resource)
      if (obstacles.some(({ why }) => why === 'points')) short.add(its)
      else if (short.has(its) && !request.isForToken) obstacles.push({ why: 'points', until: Infinity })
      if (obstacles.length === 0) {
        line.splice(line.indexOf(one), 1)
        onDecision(issuePass(request, now))
        continue
      }
      const held = decideHold(one, obstacles, now)
      if (held === undefined) soonest = Math.min(soonest, getNextCheckTime(one, obstacles))
      else {
        line.splice(line.indexOf(one), 1)
        onDecision(held)
      }
    }
    if (soonest === Infinity) return
    const set = new AbortController()
    alarm = set
    void clock.sleep(Math.max(1, soonest - now), set.signal).then(() => {
      if (!set.signal.aborted) grantNext()
    })
  }

  return {
    acquirePass: (request) =>
      new Promise((resolve) => {
        line.push({ request, since: elapsed(), onDecision: resolve })
        grantNext()
      }),
    waiting: (work) => line.filter(({ request }) => request.work === work).length,
    getDelay(work) {
      const now = elapsed()
      const free = (['core', 'graphql'] as const).map((one) => quotas.freeAt(one, reserves[work], now))
      return Math.max(0, Math.max(pausedUntil, ...free) - now)
    },
  }
}

/** The waiting classes and the longest wait. */
export function getHeldWorkClasses(budget: RequestBudget): {
  readonly works: readonly WorkClass[]
  readonly milliseconds: number
} {
  const works = workClasses.filter((work) => budget.getDelay(work) > 0)
  return { works, milliseconds: Math.max(0, ...works.map((work) => budget.getDelay(work))) }
}
