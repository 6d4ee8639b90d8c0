// Whether the bot can do its work, for whoever runs it: a probe wants one word, a person wants to know what is broken.
import type { Clock } from '../ports/clock.ts'
import { ForgeError } from '../github/forge-error.ts'
import { isDoneWithin } from './is-done-within.ts'

export interface HealthReport {
  /** False: nothing that is sent here can be kept, or nothing can be done with it. */
  readonly isReady: boolean
  /** A sentence for each thing that is broken, for people. */
  readonly problems: readonly string[]
}

export interface Health {
  /** How a question to GitHub as the App ended. */
  heardOfGitHub(error?: unknown): void
  report(): Promise<HealthReport>
}

/** Milliseconds that the store gets for an answer: a probe waits no longer. */
const patience = 2_000

export function openHealth(store: { ping(): Promise<void> }, clock: Clock): Health {
  let credentialsRefused = false
  let silentSince: number | undefined
  return {
    heardOfGitHub(error) {
      if (error === undefined) {
        credentialsRefused = false
        silentSince = undefined
        return
      }
      // Any answer but these is about something else.
      if (error instanceof ForgeError && error.code === 'unauthorized') credentialsRefused = true
      else silentSince ??= clock.now()
    },
    async report() {
      const isStoreThere = await isDoneWithin(store.ping(), patience, clock).catch(() => false)
      const problems = [
        ...(isStoreThere ? [] : ['the database does not answer']),
        ...(credentialsRefused
          ? ["GitHub does not accept the App's credentials: check APP_ID and PRIVATE_KEY"]
          : []),
        ...(silentSince === undefined
          ? []
          : [
              `GitHub does not say where the App is installed since ${new Date(silentSince).toISOString()}; this is retried`,
            ]),
      ]
      // What GitHub sends while it does not answer is kept all the same.
      return { isReady: isStoreThere && !credentialsRefused, problems }
    },
  }
}
