// Branches whose merge queue was used recently; the sweep checks their groups without a webhook.
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'

/** An empty queue is ignored after this time, until a webhook or merge mentions it. */
const queueBranchTtlSeconds = 24 * 3600
const mergeQueueBranchCache = defineCacheNamespace<readonly string[]>('merge queues', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : undefined),
})

export async function recordMergeQueueBranchUse(
  name: RepositoryName,
  branch: string,
  isInUse: boolean,
  store: Cache,
): Promise<void> {
  if (!isInUse) return
  const known = await readMergeQueueBranches(name, store)
  await store.putCached(
    mergeQueueBranchCache,
    new Map([[toRepositoryKey(name), [...new Set([...known, branch])]]]),
    queueBranchTtlSeconds,
  )
}

export async function readMergeQueueBranches(name: RepositoryName, store: Cache): Promise<readonly string[]> {
  return (
    (await store.getCached(mergeQueueBranchCache, [toRepositoryKey(name)])).get(toRepositoryKey(name)) ?? []
  )
}
