// GitHub's limits on requests, as it enforces them: the hourly one of each resource, told with every answer, and those on points
// and on what is created within a minute, which it tells by refusing alone. Who goes on asking is refused for longer.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
import type { Installation, MockGitHubData } from '../github-data.ts'
import { GitHubApiError } from './route.ts'

export interface RateLimitedRequest {
  readonly method: string
  readonly template: string
  readonly body: unknown
}

/** A refusal for a limit, with the headers that say how long. */
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

function getRateLimitCounter(
  world: MockGitHubData,
  installation: Installation,
  spending: RateLimitedRequest,
): RateLimitCounter {
  const counter = getRateLimitResource(spending) === 'graphql' ? installation.use.graphql : installation
  const seconds = world.now() / 1000
  if (counter.resetsAt <= seconds) {
    counter.remaining = installation.limits.hourly
    counter.resetsAt = Math.floor(seconds) + installation.limits.windowSeconds
  }
  return counter
}

function computeRequestPoints({ method, template, body }: RateLimitedRequest): number {
  if (template !== '/graphql') return method === 'GET' ? 1 : 5
  const { query } = (body ?? {}) as { query?: unknown }
  return typeof query === 'string' && /^\s*mutation\b/.test(query) ? 5 : 1
}

const isContentCreatingRequest = ({ method, template }: RateLimitedRequest): boolean =>
  (method === 'POST' && /\/(?:issues|pulls|comments|reviews|requested_reviewers)$/.test(template)) ||
  (method === 'PUT' && template.endsWith('/merge'))

/** Takes one request off what is left. Throws a RateLimitError where there is nothing. */
export function consumeRateLimit(
  world: MockGitHubData,
  installation: Installation,
  spending: RateLimitedRequest,
): void {
  enforceSecondaryLimits(world, installation, spending)
  const counter = getRateLimitCounter(world, installation, spending)
  if (counter.remaining <= 0)
    throw new RateLimitError(
      `API rate limit exceeded for installation ID ${installation.id}.`,
      formatRateLimitHeaders(world, installation, spending),
    )
  counter.remaining -= 1
}

/** Asking for what has not changed costs nothing of the hour. */
export function refundRateLimit(
  world: MockGitHubData,
  installation: Installation,
  spending: RateLimitedRequest,
): void {
  getRateLimitCounter(world, installation, spending).remaining += 1
}

function enforceSecondaryLimits(
  world: MockGitHubData,
  installation: Installation,
  spending: RateLimitedRequest,
): void {
  const { limits, use } = installation
  const now = world.now() / 1000
  while (use.recent[0] !== undefined && use.recent[0].at <= now - 60) use.recent.shift()
  const points = use.recent.reduce((sum, one) => sum + one.points, computeRequestPoints(spending))
  const created =
    use.recent.filter((one) => one.creates).length + (isContentCreatingRequest(spending) ? 1 : 0)
  const isTooMuch =
    points > limits.pointsPerMinute ||
    (isContentCreatingRequest(spending) && created > limits.contentPerMinute)
  if (isTooMuch || now < use.blockedUntil) {
    use.blockedUntil = now + limits.pauseSeconds
    throw new RateLimitError(
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      {
        ...formatRateLimitHeaders(world, installation, spending),
        'retry-after': String(limits.pauseSeconds),
      },
    )
  }
  use.recent.push({
    at: now,
    points: computeRequestPoints(spending),
    creates: isContentCreatingRequest(spending),
  })
}

export function formatRateLimitHeaders(
  world: MockGitHubData,
  installation: Installation,
  spending: RateLimitedRequest,
): Record<string, string> {
  const { remaining, resetsAt } = getRateLimitCounter(world, installation, spending)
  const { hourly } = installation.limits
  return {
    'x-ratelimit-limit': String(hourly),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-used': String(hourly - remaining),
    'x-ratelimit-reset': String(resetsAt),
    'x-ratelimit-resource': getRateLimitResource(spending),
  }
}
