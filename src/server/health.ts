import type { Clock } from '../ports/clock.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import type { ThrottledInstallation } from '../adapters/github/budget/installation-budgets.ts'
import type { WorkPriorityClass } from '../adapters/github/budget/request-limits.ts'
import { doesPromiseSettleWithin } from '../adapters/system-clock.ts'

export interface HealthReport {
  /** False if deliveries cannot be stored or jobs cannot be processed. */
  readonly isReady: boolean
  /** One sentence per problem. */
  readonly problems: readonly string[]
}

interface HealthMonitor {
  /** Records the outcome of a GitHub request made as the App. */
  recordGitHubResult(error?: unknown): void
  report(): Promise<HealthReport>
}

/** Milliseconds; probes do not wait longer. */
const storeHealthCheckTimeoutMs = 2_000

const labelByWorkPriorityClass: Readonly<Record<WorkPriorityClass, string>> = {
  landing: 'merging',
  look: 'pull request evaluations',
  sweep: 'sweeps',
  scan: 'image scans',
}

const formatRateLimitedInstallation = ({ installation, works, until }: ThrottledInstallation): string =>
  `to stay within GitHub's rate limit for installation ${installation}, catalog-bot delays this work until ${new Date(until).toISOString()}: ${works.map((work) => labelByWorkPriorityClass[work]).join(', ')}`

export function createHealthMonitor(
  store: { ping(): Promise<void> },
  clock: Clock,
  held: () => readonly ThrottledInstallation[] = () => [],
): HealthMonitor {
  let areCredentialsRejected = false
  let silentSince: number | undefined
  return {
    recordGitHubResult(error) {
      if (error === undefined) {
        areCredentialsRejected = false
        silentSince = undefined
        return
      }
      if (error instanceof ForgeError && error.code === 'unauthorized') areCredentialsRejected = true
      else silentSince ??= clock.now()
    },
    async report() {
      const isStoreThere = await doesPromiseSettleWithin(
        store.ping(),
        storeHealthCheckTimeoutMs,
        clock,
      ).catch(() => false)
      const problems = [
        ...(isStoreThere ? [] : ['the database does not respond']),
        ...(areCredentialsRejected
          ? ["GitHub rejected the App's credentials; check APP_ID and PRIVATE_KEY"]
          : []),
        ...(silentSince === undefined
          ? []
          : [
              `catalog-bot has been unable to list the App's installations since ${new Date(silentSince).toISOString()}; it retries automatically`,
            ]),
        ...held().map(formatRateLimitedInstallation),
      ]
      // Deliveries are still stored while GitHub does not answer.
      return { isReady: isStoreThere && !areCredentialsRejected, problems }
    },
  }
}
