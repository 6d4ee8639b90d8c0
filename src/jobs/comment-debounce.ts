// Delays the ready report. Most pull requests merge within seconds, so one comment about the merge saves an email and a
// GitHub write.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'
import { createPullHeadTimer, pullHeadTimerCacheFormat } from './head-state-since.ts'

/**
 * Seconds to wait for the merge, about the time for a queue of a hundred. Check runs appear at once. An outdated
 * comment is replaced sooner.
 */
const commentDelaySecondsByWriteKind = { first: 120, edit: 30 } as const

/** If lost, the report is delayed again. */
const measureMsSinceReadyToMerge = createPullHeadTimer(
  defineCacheNamespace('ready since', pullHeadTimerCacheFormat),
)

/** Returns 0 if the report is due. */
export async function resolveReadyCommentDelaySeconds(
  snapshot: PullSnapshot,
  ctx: JobContext<Cache>,
  writeKind: keyof typeof commentDelaySecondsByWriteKind,
): Promise<number> {
  const ready = await measureMsSinceReadyToMerge(snapshot, ctx)
  return Math.max(0, Math.ceil(commentDelaySecondsByWriteKind[writeKind] - ready / 1000))
}
