// Renews a branch's lease while its holder works, so that no other process settles a push that outlasts the lease.
import type { LeaseStore } from '../ports/jobs.ts'
import type { AppServices } from './job-context.ts'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'

/** Returns undefined while another holder has the lease. */
export async function acquireAutoRenewingLease(
  name: string,
  { store, clock, settings, log }: Pick<AppServices<LeaseStore>, 'store' | 'clock' | 'settings' | 'log'>,
) {
  const lease = await store.acquireLease(name, settings.leaseSeconds)
  if (lease === undefined) return undefined
  const ending = new AbortController()
  const renewing = (async () => {
    for (;;) {
      // Two renewals may fail before the lease expires.
      await clock.sleep((settings.leaseSeconds * 1000) / 3, ending.signal)
      if (ending.signal.aborted) return
      const isOurs = await store.renewLease(lease, settings.leaseSeconds).catch((error: unknown) => {
        log.warn({ err: error, lease: name }, 'a lease could not be renewed; retrying')
        return true
      })
      if (!isOurs) return
    }
  })()
  return {
    lease,
    async release() {
      ending.abort()
      await renewing
      await store.releaseLease(lease)
    },
  }
}

export function toMergeLeaseName(repository: RepositoryName, branch: string): string {
  return `land ${toRepositoryKey(repository)} ${branch}`
}
