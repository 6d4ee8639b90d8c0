// Recovers a merge that a crashed process left unfinished.
import type { PullNumber } from '../pull-request/ids.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { createMergeRecoveryOptions } from './merge-recovery-options.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { toMergeLeaseName } from '../jobs/lease-name.ts'
import type { MergeRecoveryOptions } from './merge-options.ts'
import { recoverMerge } from './recover-merges.ts'

/** Returns false while the outcome is unknown. Rejects with a GitError, ForgeError or StoreError. */
export function recoverPendingMerge(pull: PullNumber, ctx: JobContext<Store>): Promise<boolean> {
  return recoverPullMerges(ctx.forge.repository, pull, createMergeRecoveryOptions(ctx))
}

/**
 * False if a merge is still open: another process holds the lease on the branch, or GitHub may still be processing the
 * merge. Ignores pull requests in a merge queue. Rejects with a GitError, ForgeError, or StoreError.
 */
export async function recoverPullMerges(
  name: RepositoryName,
  pull: PullNumber,
  options: MergeRecoveryOptions & { readonly leaseSeconds: number },
): Promise<boolean> {
  const { store, leaseSeconds } = options
  const openIntents = (await store.listPendingMerges(name)).filter(
    (intent) => intent.pull === pull && intent.method?.kind !== 'queue',
  )
  let isAll = true
  for (const branch of new Set(openIntents.map(({ baseRef }) => baseRef))) {
    const lease = await store.acquireLease(toMergeLeaseName(name, branch), leaseSeconds)
    if (lease === undefined) {
      isAll = false
      continue
    }
    try {
      // Reads again under the lease, because its previous holder may have recovered some merges or started another.
      for (const intent of await store.listPendingMerges(name))
        if (intent.pull === pull && intent.baseRef === branch && intent.method?.kind !== 'queue')
          if ((await recoverMerge(intent, options)).kind === 'unclear') isAll = false
    } finally {
      await store.releaseLease(lease)
    }
  }
  return isAll
}
