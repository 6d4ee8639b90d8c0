// The rest of an installation's hourly limits, and how far each class may use it.
import type { RateLimitQuota } from '../rate-limit-response.ts'
import type { RateLimitResource } from './request-cost.ts'

/** Milliseconds between two resets. */
const resetIntervalMsByResource: Readonly<Record<RateLimitResource, number>> = {
  core: 3600_000,
  graphql: 3600_000,
  search: 60_000,
}

/** Seconds by which reset times of the same hour can differ. */
const resetToleranceSeconds = 5

interface KnownQuota {
  readonly limit: number
  remaining: number
  readonly reset: number
  /** By our own count of milliseconds. */
  readonly resetAt: number
}

export class RateLimitQuotas {
  readonly #known = new Map<RateLimitResource, KnownQuota>()
  readonly #underWay = new Map<RateLimitResource, number>()

  /** Answers can overtake each other, so the lowest value of an hour counts, and earlier hours are ignored. */
  recordQuota(resource: RateLimitResource, quota: RateLimitQuota, now: number): void {
    const { limit, remaining, reset, resetsIn } = quota
    const known = this.#current(resource, now)
    if (known !== undefined && reset < known.reset - resetToleranceSeconds) return
    if (known !== undefined && reset <= known.reset + resetToleranceSeconds)
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
    this.#underWay.set(resource, (this.#underWay.get(resource) ?? 0) + 1)
  }

  end(resource: RateLimitResource): void {
    this.#underWay.set(resource, (this.#underWay.get(resource) ?? 0) - 1)
  }

  /**
   * When a class with this reserve may ask; at once if not later than `now`. The reserve shrinks until the reset, so
   * requests that no class can use aren't withheld.
   */
  freeAt(resource: RateLimitResource, reserve: number, now: number): number {
    const known = this.#current(resource, now)
    if (known === undefined) return now
    // GitHub may not have counted the ones under way.
    const remaining = known.remaining - (this.#underWay.get(resource) ?? 0)
    if (remaining <= 0) return known.resetAt
    const reserved = reserve * known.limit
    if (reserved === 0) return now
    return Math.min(
      known.resetAt,
      known.resetAt - ((remaining - 1) / reserved) * resetIntervalMsByResource[resource],
    )
  }

  #current(resource: RateLimitResource, now: number): KnownQuota | undefined {
    const known = this.#known.get(resource)
    return known === undefined || known.resetAt <= now ? undefined : known
  }
}
