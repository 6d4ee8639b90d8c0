// The rest of an installation's hourly limits, and how far each class may use it.
import type { Quota } from '../limit-answer.ts'
import type { Resource } from './request-cost.ts'

/** Milliseconds between two resets. */
const spans: Readonly<Record<Resource, number>> = {
  core: 3600_000,
  graphql: 3600_000,
  search: 60_000,
}

/** Seconds by which reset times of the same hour can differ. */
const sameHour = 5

interface Known {
  readonly limit: number
  remaining: number
  readonly reset: number
  /** By our own count of milliseconds. */
  readonly resetAt: number
}

export class Quotas {
  readonly #known = new Map<Resource, Known>()
  readonly #underWay = new Map<Resource, number>()

  /** Answers can overtake each other, so the lowest value of an hour counts, and earlier hours are ignored. */
  learn(resource: Resource, quota: Quota, now: number): void {
    const { limit, remaining, reset, resetsIn } = quota
    const known = this.#current(resource, now)
    if (known !== undefined && reset < known.reset - sameHour) return
    if (known !== undefined && reset <= known.reset + sameHour)
      known.remaining = Math.min(known.remaining, remaining)
    else this.#known.set(resource, { limit, remaining, reset, resetAt: now + Math.min(resetsIn, 3600_000) })
  }

  /** GitHub refused, so nothing is left, regardless of earlier answers. */
  useUp(resource: Resource, milliseconds: number, now: number): void {
    const known = this.#current(resource, now)
    this.#known.set(resource, {
      limit: known?.limit ?? 1,
      remaining: 0,
      // Without a reset time, earlier answers don't count until it is over.
      reset: known?.reset ?? Infinity,
      resetAt: now + milliseconds,
    })
  }

  begin(resource: Resource): void {
    this.#underWay.set(resource, (this.#underWay.get(resource) ?? 0) + 1)
  }

  end(resource: Resource): void {
    this.#underWay.set(resource, (this.#underWay.get(resource) ?? 0) - 1)
  }

  /**
   * When a class with this reserve may ask; at once if not later than `now`. The reserve shrinks until the reset, so
   * requests that no class can use aren't withheld.
   */
  freeAt(resource: Resource, reserve: number, now: number): number {
    const known = this.#current(resource, now)
    if (known === undefined) return now
    // GitHub may not have counted the ones under way.
    const left = known.remaining - (this.#underWay.get(resource) ?? 0)
    if (left <= 0) return known.resetAt
    const kept = reserve * known.limit
    if (kept === 0) return now
    return Math.min(known.resetAt, known.resetAt - ((left - 1) / kept) * spans[resource])
  }

  #current(resource: Resource, now: number): Known | undefined {
    const known = this.#known.get(resource)
    return known === undefined || known.resetAt <= now ? undefined : known
  }
}
