// Merges already reported on their pull requests; nothing is left to do there.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { toPullRequestKey } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'

/** The commit, by pull request. If lost, it is evaluated once more. */
const announcedMergeCache = defineCacheNamespace<string>('told landing', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})
/** The merging job asks within seconds. */
const announcedMergeTtlSeconds = 3600

export async function markMergeAnnounced(
  pull: PullNumber,
  commit: CommitSha,
  ctx: JobContext<Cache>,
): Promise<void> {
  await ctx.app.store.putCached(
    announcedMergeCache,
    new Map([[toPullRequestKey(ctx.forge.repository, pull), commit]]),
    announcedMergeTtlSeconds,
  )
}

export async function wasMergeAnnounced(
  pull: PullNumber,
  commit: CommitSha,
  ctx: JobContext<Cache>,
): Promise<boolean> {
  const key = toPullRequestKey(ctx.forge.repository, pull)
  return (await ctx.app.store.getCached(announcedMergeCache, [key])).get(key) === commit
}
