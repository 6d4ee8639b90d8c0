// Recovers a merge that a crashed process left unfinished.
import type { PullNumber } from '../pull-request/ids.ts'
import { recoverPullMerges } from './recover-pull-merges.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { createMergeRecoveryOptions } from './merge-recovery-options.ts'

/** Returns false while the outcome is unknown. Rejects with a GitError, ForgeError or StoreError. */
export function recoverPendingMerge(pull: PullNumber, ctx: JobContext<Store>): Promise<boolean> {
  return recoverPullMerges(ctx.forge.repository, pull, createMergeRecoveryOptions(ctx))
}
