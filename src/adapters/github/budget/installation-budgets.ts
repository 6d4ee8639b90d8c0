// The budgets of all installations, with their Octokits. Installations share neither limits nor responses.
import type { ProbotOctokit as Octokit } from 'probot'
import type { Clock } from '../../../ports/clock.ts'
import { ForgeError, formatRateLimit } from '../forge-error.ts'
import { getThrottledPriorityClasses, RequestBudget } from './request-budget.ts'
import {
  createBudgetedFetch,
  throttledResponseHeaderName,
  type BudgetedFetchListeners,
  createResponseCache,
  type ResponseCache,
} from './budgeted-fetch.ts'
import {
  workPriorityClasses,
  type QuotaReserveByPriorityClass,
  type WorkPriorityClass,
  type GitHubRateLimits,
  type RateLimitResource,
} from './request-limits.ts'

/** An installation, or the App itself with its own key. */
export type InstallationIdOrApp = number | 'app'

/** The installation's limits as any response reports them. */
export interface RemainingRateLimit {
  readonly installation: number
  readonly resource: RateLimitResource
  readonly remaining: number
  readonly limit: number
}

export interface InstallationBudgetsOptions {
  readonly clock: Clock
  readonly limits: GitHubRateLimits
  readonly reserves: QuotaReserveByPriorityClass
  readonly onRemaining?: ((left: RemainingRateLimit) => void) | undefined
  readonly onAnswer?: BudgetedFetchListeners['onAnswer'] | undefined
}

/** An installation with work waiting for GitHub's limit. */
export interface ThrottledInstallation {
  readonly installation: number
  readonly works: readonly WorkPriorityClass[]
  /** When all its work continues, in milliseconds since the epoch. */
  readonly until: number
}

export interface InstallationBudgets {
  /** Assigns this Octokit's requests to a job of that class. Calls `onSent` for each request that counts against the hour. */
  attach(
    octokit: Pick<Octokit, 'hook'>,
    account: InstallationIdOrApp,
    work: WorkPriorityClass,
    onSent?: () => void,
  ): void
  /** Requests waiting now. */
  waiting(): Readonly<Record<WorkPriorityClass, number>>
  held(): readonly ThrottledInstallation[]
}

interface InstallationBudgetAndCache {
  readonly budget: RequestBudget
  readonly responses: ResponseCache
}

/** Bytes of cached responses across all installations. The least recently used are dropped first. */
const maxCachedResponseBytes = 64 * 1024 * 1024

export function createInstallationBudgets({
  clock,
  limits,
  reserves,
  onRemaining,
  onAnswer,
}: InstallationBudgetsOptions): InstallationBudgets {
  const accounts = new Map<InstallationIdOrApp, InstallationBudgetAndCache>()

  function openAccountBudget(account: InstallationIdOrApp): InstallationBudgetAndCache {
    const known = accounts.get(account)
    const its = known ?? {
      budget: new RequestBudget({ clock, limits, reserves }),
      // The App's credential changes every few minutes, which makes its answers useless.
      responses: account === 'app' ? createResponseCache(0) : createResponseCache(),
    }
    accounts.delete(account)
    accounts.set(account, its)
    let bytes = [...accounts.values()].reduce((sum, { responses }) => sum + responses.bytes, 0)
    for (const [name, { budget, responses }] of accounts) {
      if (bytes <= maxCachedResponseBytes || name === account) break
      bytes -= responses.bytes
      // The known limits stay.
      accounts.set(name, { budget, responses: createResponseCache() })
    }
    return its
  }

  return {
    attach(octokit, account, work, onSent) {
      const { budget, responses } = openAccountBudget(account)
      const events: BudgetedFetchListeners = {
        onQuota({ resource, remaining, limit }) {
          if (account !== 'app') onRemaining?.({ installation: account, resource, remaining, limit })
        },
        onAnswer: (how, workClass) => {
          if (how === 'sent') onSent?.()
          onAnswer?.(how, workClass)
        },
      }
      const send = createBudgetedFetch({ budget, cache: responses, work, now: () => clock.now(), events })
      octokit.hook.before('request', (options) => {
        options.request = { ...options.request, fetch: send }
      })
      octokit.hook.error('request', (error) => {
        throw toThrottledRequestError(error, clock.now()) ?? error
      })
    },
    waiting() {
      const all = [...accounts.values()]
      return Object.fromEntries(
        workPriorityClasses.map((work) => [
          work,
          all.reduce((sum, { budget }) => sum + budget.waiting(work), 0),
        ]),
      ) as Record<WorkPriorityClass, number>
    },
    held: () =>
      [...accounts].flatMap(([installation, { budget }]) => {
        if (installation === 'app') return []
        const { works, milliseconds } = getThrottledPriorityClasses(budget)
        return works.length === 0 ? [] : [{ installation, works, until: clock.now() + milliseconds }]
      }),
  }
}

/** Undefined: it was sent. */
function toThrottledRequestError(error: unknown, now: number): ForgeError | undefined {
  const { response } = error as { response?: { headers?: Readonly<Record<string, string | undefined>> } }
  if (response?.headers?.[throttledResponseHeaderName] === undefined) return undefined
  const retryAfter = Number(response.headers['retry-after'])
  return new ForgeError('rate-limited', formatRateLimit(now + retryAfter * 1000), { retryAfter })
}
