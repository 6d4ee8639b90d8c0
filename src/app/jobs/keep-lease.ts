// A lease for as long as the work under it takes: renewed while this process lives, so that a push that takes longer than the
// lease is nobody else's to settle; let go when the work ends, and lost as ever when the process dies or stands still.
import type { Leases, Lease } from '../../ports/leases.ts'
import type { App } from './job-context.ts'

export interface KeptLease {
  readonly lease: Lease
  release(): Promise<void>
}

/** Undefined while another holder's is valid. */
export async function keepLease(
  name: string,
  { store, clock, settings, log }: Pick<App<Leases>, 'store' | 'clock' | 'settings' | 'log'>,
): Promise<KeptLease | undefined> {
  const lease = await store.acquireLease(name, settings.leaseSeconds)
  if (lease === undefined) return undefined
  const ending = new AbortController()
  const renewing = (async () => {
    for (;;) {
      // Two may fail before it runs out.
      await clock.sleep((settings.leaseSeconds * 1000) / 3, ending.signal)
      if (ending.signal.aborted) return
      const isOurs = await store.renewLease(lease, settings.leaseSeconds).catch((error: unknown) => {
        log.warn({ err: error, lease: name }, 'a lease could not be renewed and will be tried again')
        return true
      })
      // What was begun under it carries its fence: nothing new can be.
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
