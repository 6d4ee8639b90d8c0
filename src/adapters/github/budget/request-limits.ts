// How long a request waits before the budget defers it.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'

/** GitHub's separate limits. */
export type RateLimitResource = 'core' | 'graphql' | 'search'

/** A request's cost, estimated from its method and URL. */
interface RequestCost {
  readonly resource: RateLimitResource
  readonly isWrite: boolean
  /** Creates content that notifies people. */
  readonly createsContent: boolean
  /** Of the limit for a minute. */
  readonly points: number
  /** The App's token request, which doesn't count for an installation. */
  readonly isForToken: boolean
}

const pointsPerReadRequest = 1

const pointsPerWriteRequest = 5

const readOnlyHttpMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

const accessTokenPathPattern = /\/app\/installations\/[^/]+\/access_tokens$/

const graphqlPathPattern = /\/graphql$/

const searchPathPattern = /^(?:\/api\/v3)?\/search\//

/** GitHub counts merging as notifying, too. */
const contentCreatingRequestPattern =
  /^POST .*\/(?:issues|pulls|comments|replies|reviews|requested_reviewers)$|^PUT .*\/merge$/

export interface GitHubRateLimits {
  readonly concurrent: number
  /** Points a minute: a read is 1, a write 5. */
  readonly restPoints: number
  readonly graphqlPoints: number
  /** Comments, issues, pull requests and reviews. */
  readonly contentPerMinute: number
  readonly contentPerHour: number
  /** Milliseconds between writes. */
  readonly writePause: number
}

/**
 * GitHub's limits per minute and hour, beside the hourly one in each answer.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits and
 * https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api GitHub.com's. It allows 100
 * concurrent requests over all instances; ten is Octokit's throttling, and GitHub recommends one.
 */
export const documentedGitHubRateLimits: GitHubRateLimits = {
  concurrent: 10,
  restPoints: 900,
  graphqlPoints: 2000,
  contentPerMinute: 80,
  contentPerHour: 500,
  writePause: 1000,
}

/** GitHub Enterprise Server has no such limits by default. */
export const noGitHubRateLimits: GitHubRateLimits = {
  concurrent: Infinity,
  restPoints: Infinity,
  graphqlPoints: Infinity,
  contentPerMinute: Infinity,
  contentPerHour: Infinity,
  writePause: 0,
}

/** Highest priority first: merging, pull requests that users are waiting for, the sweep, and image scans. */
export const workPriorityClasses = ['landing', 'look', 'sweep', 'scan'] as const

/** The classes of requests to GitHub, by priority. */
export type WorkPriorityClass = (typeof workPriorityClasses)[number]

export const getWorkPriorityRank = (work: WorkPriorityClass): number => workPriorityClasses.indexOf(work)

/**
 * The fraction of a limit reserved from each class for higher ones. A merge may use the last request. A tenth allows 33
 * merges an hour at 15 requests. The sweep repeats every few minutes, and a scan has a day, so both leave a larger
 * fraction.
 */
export type QuotaReserveByPriorityClass = Readonly<Record<WorkPriorityClass, number>>

export const defaultQuotaReserves: QuotaReserveByPriorityClass = {
  landing: 0,
  look: 0.1,
  sweep: 0.3,
  scan: 0.5,
}

export interface BudgetedRequest extends RequestCost {
  readonly work: WorkPriorityClass
  /** Its job has started, so coming back would repeat its reads. */
  readonly hasBegun: boolean
}

/**
 * The reason to wait: GitHub's general rejection; the hour used up or reserved; and what GitHub doesn't announce: too
 * many at once, too many a minute, writes too close, too much content.
 */
export type RequestWaitReason = 'pause' | 'quota' | 'slots' | 'points' | 'writes' | 'content'

export interface ThrottledRequest {
  readonly kind: 'held'
  readonly why: RequestWaitReason
  readonly milliseconds: number
}

export interface RequestThrottle {
  readonly why: RequestWaitReason
  /** Infinity: unknown, until another request ends. */
  readonly until: number
}

export interface WaitingRequest {
  readonly request: BudgetedRequest
  readonly since: number
}

/** Milliseconds to wait for a known end. A merge holds a lease and would start over; a sweep has hardly started. */
const waitTimeoutMsByPriorityClass: Readonly<Record<WorkPriorityClass, number>> = {
  landing: 20_000,
  look: 10_000,
  sweep: 5_000,
  scan: 5_000,
}
/** For jobs that do not block others or are half done, because requeuing would repeat their requests. */
const extendedWaitTimeoutMs = 60_000
/** Milliseconds until a request that timed out is retried. */
const timedOutRequestRetryMs = 5_000
const getRequestWaitTimeoutMs = ({ work, hasBegun }: BudgetedRequest, why: RequestWaitReason): number =>
  why === 'slots' || why === 'writes' || (why === 'points' && hasBegun)
    ? extendedWaitTimeoutMs
    : waitTimeoutMsByPriorityClass[work]

/** Defined for a waiter that has waited, or would wait, too long. */
export function decideRequestThrottling(
  { request, since }: WaitingRequest,
  obstacles: readonly RequestThrottle[],
  now: number,
): ThrottledRequest | undefined {
  const isOver = ({ why, until }: RequestThrottle): boolean => {
    const deadline = since + getRequestWaitTimeoutMs(request, why)
    return now >= deadline || (until < Infinity && until > deadline)
  }
  const reason = obstacles.find(isOver)
  if (reason === undefined) return undefined
  const ends = obstacles.map(({ until }) => until).filter((until) => until < Infinity)
  return {
    kind: 'held',
    why: reason.why,
    milliseconds: Math.max(...ends, now + timedOutRequestRetryMs) - now,
  }
}

/** When to check again if nothing else happens. */
export function getNextThrottleCheckTime(
  { request, since }: WaitingRequest,
  obstacles: readonly RequestThrottle[],
): number {
  const free = Math.max(...obstacles.map(({ until }) => until))
  return Math.min(free, ...obstacles.map(({ why }) => since + getRequestWaitTimeoutMs(request, why)))
}

export function computeRequestCost(method: string, url: string, body: unknown): RequestCost {
  const { pathname } = new URL(url)
  const isGraphql = graphqlPathPattern.test(pathname)
  const isWrite = isGraphql ? isGraphqlMutation(body) : !readOnlyHttpMethods.has(method)
  return {
    resource: isGraphql ? 'graphql' : searchPathPattern.test(pathname) ? 'search' : 'core',
    isWrite,
    createsContent: !isGraphql && contentCreatingRequestPattern.test(`${method} ${pathname}`),
    points: isWrite ? pointsPerWriteRequest : pointsPerReadRequest,
    isForToken: method === 'POST' && accessTokenPathPattern.test(pathname),
  }
}

/** If this is unclear, it counts as a write, which waits a second. */
function isGraphqlMutation(body: unknown): boolean {
  if (typeof body !== 'string') return true
  const query = (tryParseJson(body) as { query?: unknown } | null | undefined)?.query
  return typeof query !== 'string' || /(?:^|\})\s*mutation\b/.test(query)
}
