// Settles what an earlier process began for a pull request that is not to land now: nobody else would come and read what
// became of it, for landings on its branch may be none for days.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { toLeaseName } from './lease-name.ts'
import type { RecoverOptions } from './merge-options.ts'
import { recoverMerge } from './recover-merges.ts'

/**
 * False when something is still open: another holds the lease of the branch, or GitHub may still be at it. What waits in a
 * merge queue is the queue's. Rejects with a GitError, ForgeError or StoreError.
 */
export async function recoverPullMerges(
  name: RepositoryName,
  pull: PullNumber,
  options: RecoverOptions & { readonly leaseSeconds: number },
): Promise<boolean> {
  const { store, leaseSeconds } = options
  const openIntents = (await store.listPendingMerges(name)).filter(
    (intent) => intent.pull === pull && intent.method?.kind !== 'queue',
  )
  let isAll = true
  for (const branch of new Set(openIntents.map(({ baseRef }) => baseRef))) {
    const lease = await store.acquireLease(toLeaseName(name, branch), leaseSeconds)
    if (lease === undefined) {
      isAll = false
      continue
    }
    try {
      // Under the lease: whoever had it may have settled some, or begun another.
      for (const intent of await store.listPendingMerges(name))
        if (intent.pull === pull && intent.baseRef === branch && intent.method?.kind !== 'queue')
          if ((await recoverMerge(intent, options)).kind === 'unclear') isAll = false
    } finally {
      await store.releaseLease(lease)
    }
  }
  return isAll
}
