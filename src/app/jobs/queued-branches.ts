// Which branches have a merge queue that was in use lately: the sweep looks at their groups, with no webhook at all.
import type { RepositoryName } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'

/** A queue that was empty for so long is looked at again when a webhook or a landing of ours speaks of it. */
const rememberedSeconds = 24 * 3600
const space = defineCache<readonly string[]>('merge queues', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : undefined),
})

/** Remembers that a branch's queue holds something; a queue that holds nothing is forgotten in time. */
export async function noteQueue(
  name: RepositoryName,
  branch: string,
  isInUse: boolean,
  store: Cache,
): Promise<void> {
  if (!isInUse) return
  const known = await queuedBranches(name, store)
  await store.putCached(
    space,
    new Map([[repositoryKey(name), [...new Set([...known, branch])]]]),
    rememberedSeconds,
  )
}

export async function queuedBranches(name: RepositoryName, store: Cache): Promise<readonly string[]> {
  return (await store.getCached(space, [repositoryKey(name)])).get(repositoryKey(name)) ?? []
}
