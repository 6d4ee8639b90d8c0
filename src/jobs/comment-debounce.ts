// Delays the ready report. Most pull requests merge within seconds, so one comment about the merge saves an email and a
// GitHub write.
import { z } from 'zod'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache, type CacheNamespace } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'
import { toPullRequestKey } from '../pull-request/repository-key.ts'

const pullHeadTimerStartSchema = z.object({ head: z.string(), since: z.number() })

type PullHeadTimerStart = z.infer<typeof pullHeadTimerStartSchema>

const pullHeadTimerTtlSeconds = 24 * 3600

export const pullHeadTimerCacheFormat = {
  version: 1,
  read: (stored: unknown): PullHeadTimerStart | undefined => pullHeadTimerStartSchema.safeParse(stored).data,
} as const

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

/** Entries of a separate cache space. If lost, the time starts over. */
export function createPullHeadTimer(space: CacheNamespace<PullHeadTimerStart>) {
  /** Milliseconds since the first call for this head; 0 on that call. */
  return async (
    { repository, pull, head }: PullSnapshot,
    { app: { store, clock } }: JobContext<Cache>,
  ): Promise<number> => {
    const key = toPullRequestKey(repository, pull)
    const now = clock.now()
    const known = (await store.getCached(space, [key])).get(key)
    if (known?.head === head) return now - known.since
    await store.putCached(space, new Map([[key, { head, since: now }]]), pullHeadTimerTtlSeconds)
    return 0
  }
}
