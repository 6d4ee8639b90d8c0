// How much an installation may ask for, and what it has used: plain records.

/** GitHub's usual hourly allowance of an installation. */
export const defaultHourlyLimit = 5000

export interface RateLimits {
  /** Requests, or points of GraphQL, within a window. */
  hourly: number
  windowSeconds: number
  /** Points within a minute, all resources together; Infinity: as many as somebody likes. */
  pointsPerMinute: number
  /** Comments, issues, pull requests and reviews within a minute. */
  contentPerMinute: number
  /** Seconds for which everything is refused after too much within a minute. */
  pauseSeconds: number
}

/** The sandbox's own traffic is much faster than people: it keeps the hourly limit alone, unless somebody sets more. */
export const createDefaultRateLimits = (hourly = defaultHourlyLimit): RateLimits => ({
  hourly,
  windowSeconds: 3600,
  pointsPerMinute: Infinity,
  contentPerMinute: Infinity,
  pauseSeconds: 60,
})

/** What an installation has used. */
export interface RateLimitUsage {
  /** Of the resource `core`; `Installation` has it by this name. */
  readonly graphql: { remaining: number; resetsAt: number }
  /** Seconds since the epoch, with points and whether something was created. */
  readonly recent: { readonly at: number; readonly points: number; readonly creates: boolean }[]
  blockedUntil: number
}

export const createEmptyRateLimitUsage = (): RateLimitUsage => ({
  graphql: { remaining: 0, resetsAt: 0 },
  recent: [],
  blockedUntil: 0,
})
