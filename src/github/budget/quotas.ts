// What is left of an installation's hourly limits, as GitHub last said, and how far each class may use it up.
import type { Quota } from '../limit-answer.ts'
import type { Resource } from './request-cost.ts'

/** Milliseconds from one beginning of a limit to the next. */
const spans: Readonly<Record<Resource, number>> = {
  core: 3600_000,
  graphql: 3600_000,
  search: 60_000,
}

/** Seconds: answers of the same hour name its end like that or better. */
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

  /** Answers may overtake each other, so within an hour the least that was said holds, and what an earlier hour says does not. */
  learn(resource: Resource, quota: Quota, now: number): void {
    const { limit, remaining, reset, resetsIn } = quota
    const known = this.#current(resource, now)
    if (known !== undefined && reset < known.reset - sameHour) return
    if (known !== undefined && reset <= known.reset + sameHour)
      known.remaining = Math.min(known.remaining, remaining)
    else this.#known.set(resource, { limit, remaining, reset, resetAt: now + Math.min(resetsIn, 3600_000) })
  }

  /** GitHub refused: nothing is left, whatever it said before. */
  useUp(resource: Resource, milliseconds: number, now: number): void {
    const known = this.#current(resource, now)
    this.#known.set(resource, {
      limit: known?.limit ?? 1,
      remaining: 0,
      // Without its name, nothing that was said before counts until it is over.
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
   * When somebody may ask who has to leave this part of the limit to others; at once where that is not later than `now`. What
   * has to be left is what the others may need until the limit begins anew, so it falls with the time: nothing waits for an
   * hour's end beside requests that nobody can use.
   */
  freeAt(resource: Resource, reserve: number, now: number): number {
    const known = this.#current(resource, now)
    if (known === undefined) return now
    // GitHub need not have counted those that are under way.
    const left = known.remaining - (this.#underWay.get(resource) ?? 0)
    if (left <= 0) return known.resetAt
    const kept = reserve * known.limit
    if (kept === 0) return now
    // What is left after this one.
    return Math.min(known.resetAt, known.resetAt - ((left - 1) / kept) * spans[resource])
  }

  #current(resource: Resource, now: number): Known | undefined {
    const known = this.#known.get(resource)
    return known === undefined || known.resetAt <= now ? undefined : known
  }
}
