// Settles what an earlier process began for a pull request that is not to land now: nobody else would come and read what
// became of it, for landings on its branch may be none for days.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { leaseName } from './lease-name.ts'
import type { SettleOptions } from './landing-options.ts'
import { settle } from './settle-landings.ts'

/**
 * False when something is still open: another holds the lease of the branch, or GitHub may still be at it. What waits in a
 * merge queue is the queue's. Rejects with a GitError, ForgeError or StoreError.
 */
export async function settleLeft(
  name: RepositoryName,
  pull: PullNumber,
  options: SettleOptions & { readonly leaseSeconds: number },
): Promise<boolean> {
  const { store, leaseSeconds } = options
  const left = (await store.openLandings(name)).filter(
    (intent) => intent.pull === pull && intent.method?.kind !== 'queue',
  )
  let isAll = true
  for (const branch of new Set(left.map(({ baseRef }) => baseRef))) {
    const lease = await store.acquireLease(leaseName(name, branch), leaseSeconds)
    if (lease === undefined) {
      isAll = false
      continue
    }
    try {
      // Under the lease: whoever had it may have settled some, or begun another.
      for (const intent of await store.openLandings(name))
        if (intent.pull === pull && intent.baseRef === branch && intent.method?.kind !== 'queue')
          if ((await settle(intent, options)).kind === 'unclear') isAll = false
    } finally {
      await store.releaseLease(lease)
    }
  }
  return isAll
}
