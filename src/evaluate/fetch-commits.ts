// Fetches the commits of a pull request, or reports why Git rejects them. A rejected head is reported once and isn't
// fetched again.
import { z } from 'zod'
import type { CommitSha } from '../pull-request/ids.ts'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { JobContext } from '../jobs/job-context.ts'

export type FetchCommitsResult =
  | { readonly kind: 'here'; readonly snapshot: PullSnapshot }
  /** GitHub and Git do not show the same commits yet. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'malformed'; readonly why: string }

const rejectedPullHeadSchema = z.object({ head: z.string(), why: z.string() })
/** If lost, the heads are fetched and rejected again. */
const rejectedPullHeadCache = defineCacheNamespace<z.infer<typeof rejectedPullHeadSchema>>('refused head', {
  version: 1,
  read: (stored) => rejectedPullHeadSchema.safeParse(stored).data,
})
const rejectedPullHeadTtlSeconds = 30 * 24 * 3600

/** Rejects with a GitError that does not concern the head, a ForgeError or a StoreError. */
export async function fetchCommits(
  snapshot: PullSnapshot,
  ctx: JobContext<Cache>,
): Promise<FetchCommitsResult> {
  const { repository, app } = ctx
  const key = toPullRequestKey(snapshot.repository, snapshot.pull)
  const before = (await app.store.getCached(rejectedPullHeadCache, [key])).get(key)
  if (before?.head === snapshot.head) {
    await repository.fetch(snapshot.baseRef)
    return { kind: 'malformed', why: before.why }
  }
  try {
    const fetched = await fetchConsistentPullSnapshot(snapshot, ctx)
    return fetched === undefined ? { kind: 'stale' } : { kind: 'here', snapshot: fetched }
  } catch (error) {
    if (!isGitError(error, 'corrupt')) throw error
    // The author didn't cause errors in the base branch or in the mirror.
    await repository.fetch(snapshot.baseRef)
    const why = parseFsckError(error.message)
    await app.store.putCached(
      rejectedPullHeadCache,
      new Map([[key, createRejectedPullHeadCacheEntry(snapshot.head, why)]]),
      rejectedPullHeadTtlSeconds,
    )
    return { kind: 'malformed', why }
  }
}

const createRejectedPullHeadCacheEntry = (head: CommitSha, why: string) => ({ head, why })

/** Returns the message id and object that `git fsck` reports. */
function parseFsckError(message: string): string {
  const [, object, messageId] = /\bobject ([0-9a-f]{40}): ([A-Za-z]{1,40})\b/.exec(message) ?? []
  return object === undefined ? 'the commits contain a malformed object' : `object ${object}: ${messageId}`
}

/** Fetches the snapshot's commits. If git and GitHub's API disagree, the snapshot is stale. */
export async function fetchConsistentPullSnapshot(
  snapshot: PullSnapshot,
  { repository, forge }: JobContext,
): Promise<PullSnapshot | undefined> {
  let current: PullSnapshot | null = snapshot
  for (let attempt = 0; attempt < 3 && current !== null; attempt++) {
    await repository.fetch(current.baseRef, current.pull)
    const tip = await repository.tip(current.baseRef)
    const head = await repository.pullHead(current.pull)
    if (tip === current.base && head === current.head) return current
    current = await forge.readSnapshot(current.pull)
  }
  return undefined
}
