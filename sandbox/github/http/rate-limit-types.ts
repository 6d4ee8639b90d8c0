// The limits of an installation, and its usage: plain records.

/** GitHub's usual hourly limit of an installation. */
export const defaultHourlyRateLimit = 5000

export interface RateLimits {
  /** Requests, or points of GraphQL, within a window. */
  hourly: number
  windowSeconds: number
  /** Points per minute, for all resources together. Infinity: unlimited. */
  pointsPerMinute: number
  /** Comments, issues, pull requests, and reviews per minute. */
  contentPerMinute: number
  /** The number of seconds for which every request is rejected after a limit per minute is exceeded. */
  pauseSeconds: number
}

/** The sandbox's traffic is much faster than real traffic, so only the hourly limit applies by default. */
export const createDefaultRateLimits = (hourly = defaultHourlyRateLimit): RateLimits => ({
  hourly,
  windowSeconds: 3600,
  pointsPerMinute: Infinity,
  contentPerMinute: Infinity,
  pauseSeconds: 60,
})

/** The usage of an installation. */
export interface RateLimitUsage {
  /** For the resource `core`. `Installation` stores it under this name. */
  readonly graphql: { remaining: number; resetsAt: number }
  /** Seconds since the epoch, with points and whether content was created. */
  readonly recent: { readonly at: number; readonly points: number; readonly creates: boolean }[]
  blockedUntil: number
}

export const createEmptyRateLimitUsage = (): RateLimitUsage => ({
  graphql: { remaining: 0, resetsAt: 0 },
  recent: [],
  blockedUntil: 0,
})
