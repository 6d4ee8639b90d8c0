// Handles the moment between a pushed merge and GitHub noticing it: the pull request still reads as open, but its
// branch already contains its head.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { Store } from '../ports/store.ts'
import { isMergedByBot } from '../jobs/is-merged-by-bot.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { recoverPendingMerge } from './recover-pending-merge.ts'
import { createPullHeadTimer, pullHeadTimerCacheFormat } from '../jobs/head-state-since.ts'

/** After this time, a person's push that left the pull request open is reported. */
const mergedStateTimeoutSeconds = 30

/** If lost, the wait for GitHub starts over. */
const measureMsSinceBaseContainsHead = createPullHeadTimer(
  defineCacheNamespace('contained head', pullHeadTimerCacheFormat),
)

/**
 * Decides what to do with an open pull request whose base branch contains its head. `merged`: by us, and recorded.
 * `wait`: for GitHub or the merging process. `open`: GitHub leaves it open. Rejects with a GitError, ForgeError or
 * StoreError.
 */
export async function resolvePullContainedInBase(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
): Promise<'merged' | 'wait' | 'open'> {
  const isSettled = await recoverPendingMerge(snapshot.pull, ctx)
  if (await isMergedByBot(snapshot, ctx)) return 'merged'
  if (!isSettled) return 'wait'
  const contained = await measureMsSinceBaseContainsHead(snapshot, ctx)
  return contained < mergedStateTimeoutSeconds * 1000 ? 'wait' : 'open'
}
