// How long a request waits before the budget defers it.
import type { RequestCost } from './request-cost.ts'
import type { WorkClass } from './work-class.ts'

export interface BudgetedRequest extends Pick<
  RequestCost,
  'resource' | 'isWrite' | 'createsContent' | 'points' | 'isForToken'
> {
  readonly work: WorkClass
  /** Its job has started, so coming back would repeat its reads. */
  readonly hasBegun: boolean
}

/**
 * The reason to wait: GitHub's general rejection; the hour used up or reserved; and what GitHub doesn't announce: too
 * many at once, too many a minute, writes too close, too much content.
 */
export type RequestWaitReason = 'pause' | 'quota' | 'slots' | 'points' | 'writes' | 'content'

export interface ThrottledRequest {
  readonly kind: 'held'
  readonly why: RequestWaitReason
  readonly milliseconds: number
}

export interface RequestWaitObstacle {
  readonly why: RequestWaitReason
  /** Infinity: unknown, until another request ends. */
  readonly until: number
}

export interface WaitingRequest {
  readonly request: BudgetedRequest
  readonly since: number
}

/** Milliseconds to wait for a known end. A merge holds a lease and would start over; a sweep has hardly started. */
const waitTimeoutMsByWorkClass: Readonly<Record<WorkClass, number>> = {
  landing: 20_000,
  look: 10_000,
  sweep: 5_000,
  scan: 5_000,
}
/** For jobs that do not block others or are half done, because requeuing would repeat their requests. */
const longWaitTimeoutMs = 60_000
/** Milliseconds until a request that waited in vain tries again. */
const requestSlotRetryMs = 5_000
const getWaitTimeoutMs = ({ work, hasBegun }: BudgetedRequest, why: RequestWaitReason): number =>
  why === 'slots' || why === 'writes' || (why === 'points' && hasBegun)
    ? longWaitTimeoutMs
    : waitTimeoutMsByWorkClass[work]

/** Defined for a waiter that has waited, or would wait, too long. */
export function decideRequestThrottling(
  { request, since }: WaitingRequest,
  obstacles: readonly RequestWaitObstacle[],
  now: number,
): ThrottledRequest | undefined {
  const isOver = ({ why, until }: RequestWaitObstacle): boolean => {
    const deadline = since + getWaitTimeoutMs(request, why)
    return now >= deadline || (until < Infinity && until > deadline)
  }
  const reason = obstacles.find(isOver)
  if (reason === undefined) return undefined
  const ends = obstacles.map(({ until }) => until).filter((until) => until < Infinity)
  return { kind: 'held', why: reason.why, milliseconds: Math.max(...ends, now + requestSlotRetryMs) - now }
}

/** When to check again if nothing else happens. */
export function getNextObstacleCheckTime(
  { request, since }: WaitingRequest,
  obstacles: readonly RequestWaitObstacle[],
): number {
  const free = Math.max(...obstacles.map(({ until }) => until))
  return Math.min(free, ...obstacles.map(({ why }) => since + getWaitTimeoutMs(request, why)))
}
