// How long a request waits where it is, and when it is told instead to come back later. Decides nothing else.
import type { RequestCost } from './request-cost.ts'
import type { WorkClass } from './work-class.ts'

export interface Wish extends Pick<
  RequestCost,
  'resource' | 'isWrite' | 'createsContent' | 'points' | 'isForToken'
> {
  readonly work: WorkClass
  /** Its job has been let in before: what it has read would be read once more. */
  readonly hasBegun: boolean
}

/**
 * Why somebody waits: GitHub refused everything for a while; the hour is used up, or the rest of it kept for others; and what
 * GitHub does not tell beforehand: too many under way, too many a minute, writes too close, too much made.
 */
export type Hindrance = 'pause' | 'quota' | 'slots' | 'points' | 'writes' | 'content'

export interface Held {
  readonly kind: 'held'
  readonly why: Hindrance
  /** After which it makes sense to ask again. */
  readonly milliseconds: number
}

export interface Obstacle {
  readonly why: Hindrance
  /** Infinity: nobody knows, somebody else has to end first. */
  readonly until: number
}

export interface Waiter {
  readonly wish: Wish
  /** When it came. */
  readonly since: number
}

/**
 * Milliseconds that a request waits for something whose end is known: a landing holds a lease meanwhile, and its job would begin
 * anew; a sweep has hardly begun.
 */
const patience: Readonly<Record<WorkClass, number>> = {
  landing: 20_000,
  look: 10_000,
  sweep: 5_000,
  scan: 5_000,
}
/** Where others are served meanwhile, or half a job is done: going back to the queue would cost its requests once more. */
const longPatience = 60_000
/** Milliseconds after which those ask again who waited for their turn in vain. */
const crowded = 5_000
const patienceFor = ({ work, hasBegun }: Wish, why: Hindrance): number =>
  why === 'slots' || why === 'writes' || (why === 'points' && hasBegun) ? longPatience : patience[work]

/** Defined for whoever has waited long enough, or would. */
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

/** When it is looked at again, though nothing else happens. */
export function wakeOf({ wish, since }: Waiter, obstacles: readonly Obstacle[]): number {
  const free = Math.max(...obstacles.map(({ until }) => until))
  return Math.min(free, ...obstacles.map(({ why }) => since + patienceFor(wish, why)))
}
