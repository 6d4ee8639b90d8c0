// How long a request waits before the budget defers it.
import type { RequestCost } from './request-cost.ts'
import type { WorkClass } from './work-class.ts'

export interface Wish extends Pick<
  RequestCost,
  'resource' | 'isWrite' | 'createsContent' | 'points' | 'isForToken'
> {
  readonly work: WorkClass
  /** Its job has started, so coming back would repeat its reads. */
  readonly hasBegun: boolean
}

/**
 * The reason to wait: GitHub's general refusal; the hour used up or reserved; and what GitHub doesn't announce: too
 * many at once, too many a minute, writes too close, too much content.
 */
export type Hindrance = 'pause' | 'quota' | 'slots' | 'points' | 'writes' | 'content'

export interface Held {
  readonly kind: 'held'
  readonly why: Hindrance
  readonly milliseconds: number
}

export interface Obstacle {
  readonly why: Hindrance
  /** Infinity: unknown, until another request ends. */
  readonly until: number
}

export interface Waiter {
  readonly wish: Wish
  readonly since: number
}

/** Milliseconds to wait for a known end. A landing holds a lease and would start again; a sweep has hardly started. */
const patience: Readonly<Record<WorkClass, number>> = {
  landing: 20_000,
  look: 10_000,
  sweep: 5_000,
  scan: 5_000,
}
/** Where others are served meanwhile or a job is half done, because requeuing would repeat its requests. */
const longPatience = 60_000
/** Milliseconds until a request that waited in vain tries again. */
const crowded = 5_000
const patienceFor = ({ work, hasBegun }: Wish, why: Hindrance): number =>
  why === 'slots' || why === 'writes' || (why === 'points' && hasBegun) ? longPatience : patience[work]

/** Defined for a waiter that has waited, or would wait, too long. */
export function heldBy(
  { wish, since }: Waiter,
  obstacles: readonly Obstacle[],
  now: number,
): Held | undefined {
  const isOver = ({ why, until }: Obstacle): boolean => {
    const given = since + patienceFor(wish, why)
    return now >= given || (until < Infinity && until > given)
  }
  const reason = obstacles.find(isOver)
  if (reason === undefined) return undefined
  const ends = obstacles.map(({ until }) => until).filter((until) => until < Infinity)
  return { kind: 'held', why: reason.why, milliseconds: Math.max(...ends, now + crowded) - now }
}

/** When to check again if nothing else happens. */
export function wakeOf({ wish, since }: Waiter, obstacles: readonly Obstacle[]): number {
  const free = Math.max(...obstacles.map(({ until }) => until))
  return Math.min(free, ...obstacles.map(({ why }) => since + patienceFor(wish, why)))
}
