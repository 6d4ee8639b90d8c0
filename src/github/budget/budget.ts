// One installation's request budget: by class, then first come first served. Long waits are refused with a time instead
// of blocking the job queue. Knows nothing of HTTP; times are spans of our own clock.
import type { Clock } from '../../ports/clock.ts'
import { unsaidWait, type Quota, type Refusal } from '../limit-answer.ts'
import type { GitHubLimits } from './github-limits.ts'
import { Quotas } from './quotas.ts'
import { Recent } from './recent.ts'
import type { Resource } from './request-cost.ts'
import {
  heldBy,
  wakeOf,
  type Held,
  type Hindrance,
  type Obstacle,
  type Waiter,
  type Wish,
} from './patience.ts'
import { rankOf, workClasses, type Reserves, type WorkClass } from './work-class.ts'

/** Leave to send one request. */
export interface Pass {
  readonly kind: 'pass'
  heard(answer: {
    readonly quota?: Quota | undefined
    readonly refusal?: Refusal | undefined
    readonly isFailure: boolean
  }): void
  /** The request ended, with or without an answer. */
  end(): void
}

export interface Budget {
  enter(wish: Wish): Promise<Pass | Held>
  waiting(work: WorkClass): number
  /** Milliseconds until a job of this class can start; 0: now. */
  heldFor(work: WorkClass): number
}

export interface BudgetOptions {
  readonly limits: GitHubLimits
  readonly reserves: Reserves
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
}

/** Milliseconds: the longest pause after repeated refusals without a given time. */
const longestPause = 3600_000

interface Waiting extends Waiter {
  readonly go: (answer: Pass | Held) => void
}

const minute = 60_000

export function openBudget({ limits, reserves, clock }: BudgetOptions): Budget {
  const elapsed = () => clock.elapsed?.() ?? clock.now()
  const quotas = new Quotas()
  const points = {
    rest: new Recent(limits.restPoints, minute),
    graphql: new Recent(limits.graphqlPoints, minute),
  }
  const content = [
    new Recent(limits.contentPerMinute, minute),
    new Recent(limits.contentPerHour, 60 * minute),
  ]
  const line: Waiting[] = []
  let underWay = 0
  let lastWrite = -Infinity
  let pausedUntil = -Infinity
  /** Consecutive refusals, not counting those during a pause. */
  let refusals = 0
  /** After a pause, a single request tests whether it is over. */
  let isProbing = false
  let alarm: AbortController | undefined

  const pointsOf = (resource: Resource) => (resource === 'graphql' ? points.graphql : points.rest)

  /** A job under way may use half as much again, because restarting it costs more. */
  const reserveOf = ({ work, hasBegun }: Pick<Wish, 'work' | 'hasBegun'>): number =>
    hasBegun ? reserves[work] / 2 : reserves[work]

  function obstaclesOf(wish: Wish, now: number): readonly Obstacle[] {
    const found: Obstacle[] = []
    const add = (why: Hindrance, until: number) => {
      if (until > now) found.push({ why, until })
    }
    add('pause', pausedUntil)
    // A token request has its caller's leave, so it doesn't wait for others.
    if (wish.isForToken) return found
    if (refusals > 0 && isProbing) add('pause', Infinity)
    const reserve = reserveOf(wish)
    add('quota', quotas.freeAt(wish.resource, reserve, now))
    if (underWay >= Math.max(1, limits.concurrent * (1 - reserve))) add('slots', Infinity)
    add('points', pointsOf(wish.resource).freeAt(wish.points, reserve, now))
    if (wish.isWrite) add('writes', lastWrite + limits.writePause)
    if (wish.createsContent) for (const recent of content) add('content', recent.freeAt(1, reserve, now))
    return found
  }

  function passFor(wish: Wish, now: number): Pass {
    const isProbe = refusals > 0 && !wish.isForToken
    if (!wish.isForToken) {
      underWay += 1
      quotas.begin(wish.resource)
      pointsOf(wish.resource).add(wish.points, now)
      if (wish.isWrite) lastWrite = now
      if (wish.createsContent) for (const recent of content) recent.add(1, now)
      if (isProbe) isProbing = true
    }
    return {
      kind: 'pass',
      heard({ quota, refusal, isFailure }) {
        const then = elapsed()
        // The App's own limit is separate.
        if (quota !== undefined && !wish.isForToken)
          quotas.learn(quota.resource ?? wish.resource, quota, then)
        if (refusal !== undefined) refuse(refusal, quota?.resource ?? wish.resource, wish.isForToken, then)
        else if (!isFailure && !wish.isForToken && then >= pausedUntil) refusals = 0
      },
      end() {
        if (wish.isForToken) return
        underWay -= 1
        quotas.end(wish.resource)
        if (isProbe) isProbing = false
        next()
      },
    }
  }

  function refuse({ kind, seconds }: Refusal, resource: Resource, isForToken: boolean, now: number): void {
    if (kind === 'primary' && !isForToken) {
      quotas.useUp(resource, (seconds ?? unsaidWait) * 1000, now)
      return
    }
    // Concurrent refusals count as one.
    if (now >= pausedUntil) refusals += 1
    const unsaid = Math.min(unsaidWait * 1000 * 2 ** (refusals - 1), longestPause)
    pausedUntil = Math.max(pausedUntil, now + (seconds === undefined ? unsaid : seconds * 1000))
  }

  function next(): void {
    alarm?.abort()
    const now = elapsed()
    let soonest = Infinity
    /** A request for five points must not starve behind later ones for one. */
    const short = new Set<object>()
    for (const one of line.toSorted((a, b) => rankOf(a.wish.work) - rankOf(b.wish.work))) {
      const { wish, go } = one
      const obstacles = [...obstaclesOf(wish, now)]
      const its = pointsOf(wish.resource)
      if (obstacles.some(({ why }) => why === 'points')) short.add(its)
      else if (short.has(its) && !wish.isForToken) obstacles.push({ why: 'points', until: Infinity })
      if (obstacles.length === 0) {
        line.splice(line.indexOf(one), 1)
        go(passFor(wish, now))
        continue
      }
      const held = heldBy(one, obstacles, now)
      if (held === undefined) soonest = Math.min(soonest, wakeOf(one, obstacles))
      else {
        line.splice(line.indexOf(one), 1)
        go(held)
      }
    }
    if (soonest === Infinity) return
    const set = new AbortController()
    alarm = set
    void clock.sleep(Math.max(1, soonest - now), set.signal).then(() => {
      if (!set.signal.aborted) next()
    })
  }

  return {
    enter: (wish) =>
      new Promise((resolve) => {
        line.push({ wish, since: elapsed(), go: resolve })
        next()
      }),
    waiting: (work) => line.filter(({ wish }) => wish.work === work).length,
    heldFor(work) {
      const now = elapsed()
      const free = (['core', 'graphql'] as const).map((one) => quotas.freeAt(one, reserves[work], now))
      return Math.max(0, Math.max(pausedUntil, ...free) - now)
    },
  }
}

/** The waiting classes and the longest wait. */
export function heldClasses(budget: Budget): {
  readonly works: readonly WorkClass[]
  readonly milliseconds: number
} {
  const works = workClasses.filter((work) => budget.heldFor(work) > 0)
  return { works, milliseconds: Math.max(0, ...works.map((work) => budget.heldFor(work))) }
}
