// Recovers a merge that a crashed process left unfinished.
import type { PullNumber } from '../../change/ids.ts'
import { recoverPullMerges } from '../../merge/recover-pull-merges.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { createMergeRecoveryOptions } from './merge-recovery-options.ts'

/** Returns false while the outcome is unknown. Rejects with a GitError, ForgeError or StoreError. */
export function recoverPendingMerge(pull: PullNumber, ctx: JobContext<Store>): Promise<boolean> {
  return recoverPullMerges(ctx.forge.repository, pull, createMergeRecoveryOptions(ctx))
}
