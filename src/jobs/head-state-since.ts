// Measures how long a condition holds for a pull request's current head.
import { z } from 'zod'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { Cache, CacheNamespace } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'

const pullHeadTimerStartSchema = z.object({ head: z.string(), since: z.number() })
type PullHeadTimerStart = z.infer<typeof pullHeadTimerStartSchema>
const pullHeadTimerTtlSeconds = 24 * 3600

export const pullHeadTimerCacheFormat = {
  version: 1,
  read: (stored: unknown): PullHeadTimerStart | undefined => pullHeadTimerStartSchema.safeParse(stored).data,
} as const

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
