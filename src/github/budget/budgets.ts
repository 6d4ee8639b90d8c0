// The budgets of all installations and their Octokits. Installations share neither limits nor answers.
import type { ProbotOctokit as Octokit } from 'probot'
import { sayGitHubLimit } from '../../messages/github-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import { ForgeError } from '../forge-error.ts'
import { heldClasses, openBudget, type Budget } from './budget.ts'
import { budgetedFetch, heldHeader, type FetchEvents } from './budgeted-fetch.ts'
import type { GitHubLimits } from './github-limits.ts'
import { openKeptAnswers, type KeptAnswers } from './kept-answers.ts'
import type { Resource } from './request-cost.ts'
import { workClasses, type Reserves, type WorkClass } from './work-class.ts'

/** An installation, or the App itself with its own key. */
export type Account = number | 'app'

/** What any answer says about an installation's limits. */
export interface RemainingRequests {
  readonly installation: number
  readonly resource: Resource
  readonly remaining: number
  readonly limit: number
}

export interface BudgetsOptions {
  readonly clock: Clock
  readonly limits: GitHubLimits
  readonly reserves: Reserves
  readonly onRemaining?: ((left: RemainingRequests) => void) | undefined
  readonly onAnswer?: FetchEvents['onAnswer'] | undefined
}

/** An installation with work waiting for GitHub's limit. */
export interface HeldInstallation {
  readonly installation: number
  readonly works: readonly WorkClass[]
  /** When all its work continues, in milliseconds since the epoch. */
  readonly until: number
}

export interface Budgets {
  /**
   * Assigns this Octokit's requests to a job of that class. `onSent` hears each request that counts against the hour.
   */
  attach(octokit: Pick<Octokit, 'hook'>, account: Account, work: WorkClass, onSent?: () => void): void
  /** Requests waiting now. */
  waiting(): Readonly<Record<WorkClass, number>>
  held(): readonly HeldInstallation[]
}

interface Kept {
  readonly budget: Budget
  readonly answers: KeptAnswers
}

/** Bytes of kept answers over all installations; the least recently used go first. */
const mostBytes = 64 * 1024 * 1024

export function openBudgets({ clock, limits, reserves, onRemaining, onAnswer }: BudgetsOptions): Budgets {
  const accounts = new Map<Account, Kept>()

  function of(account: Account): Kept {
    const known = accounts.get(account)
    const its = known ?? {
      budget: openBudget({ clock, limits, reserves }),
      // The App's credential changes every few minutes, which makes its answers useless.
      answers: account === 'app' ? openKeptAnswers(0) : openKeptAnswers(),
    }
    accounts.delete(account)
    accounts.set(account, its)
    let bytes = [...accounts.values()].reduce((sum, { answers }) => sum + answers.bytes, 0)
    for (const [name, { budget, answers }] of accounts) {
      if (bytes <= mostBytes || name === account) break
      bytes -= answers.bytes
      // The known limits stay.
      accounts.set(name, { budget, answers: openKeptAnswers() })
    }
    return its
  }

  return {
    attach(octokit, account, work, onSent) {
      const { budget, answers } = of(account)
      const events: FetchEvents = {
        onQuota({ resource, remaining, limit }) {
          if (account !== 'app') onRemaining?.({ installation: account, resource, remaining, limit })
        },
        onAnswer: (how, whose) => {
          if (how === 'sent') onSent?.()
          onAnswer?.(how, whose)
        },
      }
      const send = budgetedFetch({ budget, kept: answers, work, now: () => clock.now(), events })
      octokit.hook.before('request', (options) => {
        options.request = { ...options.request, fetch: send }
      })
      octokit.hook.error('request', (error) => {
        throw heldError(error, clock.now()) ?? error
      })
    },
    waiting() {
      const all = [...accounts.values()]
      return Object.fromEntries(
        workClasses.map((work) => [work, all.reduce((sum, { budget }) => sum + budget.waiting(work), 0)]),
      ) as Record<WorkClass, number>
    },
    held: () =>
      [...accounts].flatMap(([installation, { budget }]) => {
        if (installation === 'app') return []
        const { works, milliseconds } = heldClasses(budget)
        return works.length === 0 ? [] : [{ installation, works, until: clock.now() + milliseconds }]
      }),
  }
}

/** Undefined: it was sent. */
function heldError(error: unknown, now: number): ForgeError | undefined {
  const { response } = error as { response?: { headers?: Readonly<Record<string, string | undefined>> } }
  if (response?.headers?.[heldHeader] === undefined) return undefined
  const retryAfter = Number(response.headers['retry-after'])
  return new ForgeError('rate-limited', sayGitHubLimit(now + retryAfter * 1000), { retryAfter })
}
