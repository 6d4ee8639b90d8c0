// Who has to wait before asking GitHub again. A limit holds for all of an installation: what one request was told, every other
// knows, and GitHub is not asked until then (asking on regardless makes GitHub refuse for longer).
import type { ProbotOctokit as Octokit } from 'probot'
import type { Clock } from '../ports/clock.ts'
import { ForgeError, toForgeError } from './forge-error.ts'

export interface RateLimits {
  /** Keeps requests of this installation back while GitHub's limit holds. */
  watch(octokit: Octokit, installation: number): void
}

/** What GitHub says of one of an installation's limits, with any answer. */
export interface RemainingRequests {
  readonly installation: number
  /** `core`, `graphql`, `search`. */
  readonly resource: string
  readonly remaining: number
  readonly limit: number
}

export function openRateLimits(
  clock: Clock,
  onRemaining: (left: RemainingRequests) => void = () => undefined,
): RateLimits {
  const until = new Map<number, number>()
  return {
    watch(octokit, installation) {
      octokit.hook.before('request', () => {
        const left = (until.get(installation) ?? 0) - clock.now()
        if (left <= 0) return
        throw new ForgeError('rate-limited', "GitHub's rate limit holds for this installation", {
          retryAfter: Math.ceil(left / 1000),
        })
      })
      octokit.hook.after('request', ({ headers }) => {
        const remaining = Number(headers['x-ratelimit-remaining'] ?? Number.NaN)
        const limit = Number(headers['x-ratelimit-limit'] ?? Number.NaN)
        if (Number.isFinite(remaining) && Number.isFinite(limit))
          onRemaining({ installation, resource: resourceOf(headers), remaining, limit })
      })
      octokit.hook.error('request', (error) => {
        const failure = toForgeError(error, 'ask')
        if (failure.code === 'rate-limited')
          until.set(
            installation,
            Math.max(until.get(installation) ?? 0, clock.now() + failure.retryAfter * 1000),
          )
        throw error
      })
    },
  }
}

const resources = ['core', 'graphql', 'search'] as const

/** One of a few words, whatever is sent. */
function resourceOf(headers: Readonly<Record<string, unknown>>): string {
  return resources.find((known) => known === headers['x-ratelimit-resource']) ?? 'core'
}
