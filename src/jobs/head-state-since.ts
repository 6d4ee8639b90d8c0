// Measures how long a condition holds for a pull request's current head.
import { z } from 'zod'
import { toPullKey } from '../pull-request/repository-key.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Cache, CacheNamespace } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'

const headStateStartSchema = z.object({ head: z.string(), since: z.number() })
type HeadStateStart = z.infer<typeof headStateStartSchema>
const headStateTtlSeconds = 24 * 3600

export const headStateStartFormat = {
  version: 1,
  read: (stored: unknown): HeadStateStart | undefined => headStateStartSchema.safeParse(stored).data,
} as const

/** Entries of a separate cache space. If lost, the time starts over. */
export function createHeadStateTimer(space: CacheNamespace<HeadStateStart>) {
  /** Milliseconds since the first call for this head; 0 on that call. */
  return async (
    { repository, pull, head }: PullSnapshot,
    { app: { store, clock } }: JobContext<Cache>,
  ): Promise<number> => {
    const key = toPullKey(repository, pull)
    const now = clock.now()
    const known = (await store.getCached(space, [key])).get(key)
    if (known?.head === head) return now - known.since
    await store.putCached(space, new Map([[key, { head, since: now }]]), headStateTtlSeconds)
    return 0
  }
}
