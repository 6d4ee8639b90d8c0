// Who has to wait before asking GitHub again. A limit holds for all of an installation: what one request was told, every other
// knows, and GitHub is not asked until then (asking on regardless makes GitHub refuse for longer).
import type { ProbotOctokit as Octokit } from 'probot'
import type { Clock } from '../ports/clock.ts'
import { ForgeError, toForgeError } from './forge-error.ts'

export interface RateLimits {
  /** Keeps requests of this installation back while GitHub's limit holds. */
  watch(octokit: Octokit, installation: number): void
}

export function openRateLimits(clock: Clock): RateLimits {
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
