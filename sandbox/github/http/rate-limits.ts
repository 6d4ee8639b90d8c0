// GitHub's rate limits: the hourly limit of each resource, which every answer reports, and the limits on points and
// on created content per minute, which GitHub reports only when it rejects a request. Further requests extend the
// wait time. https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
import type { Installation } from '../github-data.ts'
import { GitHubApiError } from './route.ts'

export interface RateLimitedRequest {
  readonly method: string
  readonly template: string
  readonly body: unknown
}

/** A rejection because of a limit, with the headers that give the wait time. */
export class RateLimitError extends GitHubApiError {
  readonly headers: Readonly<Record<string, string>>
  constructor(message: string, headers: Readonly<Record<string, string>>) {
    super(403, message)
    this.headers = headers
  }
}

type RateLimitCounter = { remaining: number; resetsAt: number }

const getRateLimitResource = ({ template }: RateLimitedRequest): 'core' | 'graphql' =>
  template === '/graphql' ? 'graphql' : 'core'

function getRateLimitCounter(installation: Installation, spending: RateLimitedRequest): RateLimitCounter {
  const counter = getRateLimitResource(spending) === 'graphql' ? installation.use.graphql : installation
  const seconds = installation.account.github.now() / 1000
  if (counter.resetsAt <= seconds) {
    counter.remaining = installation.limits.hourly
    counter.resetsAt = Math.floor(seconds) + installation.limits.windowSeconds
  }
  return counter
}

function computeSecondaryRateLimitPoints({ method, template, body }: RateLimitedRequest): number {
  if (template !== '/graphql') return method === 'GET' ? 1 : 5
  const { query } = (body ?? {}) as { query?: unknown }
  return typeof query === 'string' && /^\s*mutation\b/.test(query) ? 5 : 1
}

const isContentCreatingRequest = ({ method, template }: RateLimitedRequest): boolean =>
  (method === 'POST' && /\/(?:issues|pulls|comments|reviews|requested_reviewers)$/.test(template)) ||
  (method === 'PUT' && template.endsWith('/merge'))

/** Subtracts one request from the remainder. Throws a RateLimitError if no request remains. */
export function consumeRateLimit(installation: Installation, spending: RateLimitedRequest): void {
  enforceSecondaryRateLimits(installation, spending)
  const counter = getRateLimitCounter(installation, spending)
  if (counter.remaining <= 0)
    throw new RateLimitError(
      `API rate limit exceeded for installation ID ${installation.id}.`,
      formatRateLimitHeaders(installation, spending),
    )
  counter.remaining -= 1
}

/** A conditional request for unchanged data does not count against the hourly limit. */
export function refundHourlyRateLimit(installation: Installation, spending: RateLimitedRequest): void {
  getRateLimitCounter(installation, spending).remaining += 1
}

function enforceSecondaryRateLimits(installation: Installation, spending: RateLimitedRequest): void {
  const { limits, use } = installation
  const now = installation.account.github.now() / 1000
  while (use.recent[0] !== undefined && use.recent[0].at <= now - 60) use.recent.shift()
  const points = use.recent.reduce((sum, one) => sum + one.points, computeSecondaryRateLimitPoints(spending))
  const created =
    use.recent.filter((one) => one.creates).length + (isContentCreatingRequest(spending) ? 1 : 0)
  const isTooMuch =
    points > limits.pointsPerMinute ||
    (isContentCreatingRequest(spending) && created > limits.contentPerMinute)
  if (isTooMuch || now < use.blockedUntil) {
    use.blockedUntil = now + limits.pauseSeconds
    throw new RateLimitError(
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      { ...formatRateLimitHeaders(installation, spending), 'retry-after': String(limits.pauseSeconds) },
    )
  }
  use.recent.push({
    at: now,
    points: computeSecondaryRateLimitPoints(spending),
    creates: isContentCreatingRequest(spending),
  })
}

export function formatRateLimitHeaders(
  installation: Installation,
  spending: RateLimitedRequest,
): Record<string, string> {
  const { remaining, resetsAt } = getRateLimitCounter(installation, spending)
  const { hourly } = installation.limits
  return {
    'x-ratelimit-limit': String(hourly),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-used': String(hourly - remaining),
    'x-ratelimit-reset': String(resetsAt),
    'x-ratelimit-resource': getRateLimitResource(spending),
  }
}
