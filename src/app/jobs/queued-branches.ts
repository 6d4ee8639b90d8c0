// Which branches have a merge queue that was in use lately: the sweep looks at their groups, with no webhook at all.
import type { RepositoryName } from '../../change/snapshot.ts'
import type { Store } from '../../ports/store.ts'

/** A queue that was empty for so long is looked at again when a webhook or a landing of ours speaks of it. */
const rememberedSeconds = 24 * 3600
const spaceOf = ({ owner, name }: RepositoryName) => `merge queues ${owner}/${name}`.toLowerCase()
const all = 'branches'

type Cache = Pick<Store, 'getCached' | 'putCached'>

/** Remembers that a branch's queue holds something; a queue that holds nothing is forgotten in time. */
export async function noteQueue(
  name: RepositoryName,
  branch: string,
  isInUse: boolean,
  store: Cache,
): Promise<void> {
  if (!isInUse) return
  const known = await queuedBranches(name, store)
  await store.putCached(spaceOf(name), new Map([[all, [...new Set([...known, branch])]]]), rememberedSeconds)
}

export async function queuedBranches(name: RepositoryName, store: Cache): Promise<readonly string[]> {
  return ((await store.getCached(spaceOf(name), [all])).get(all) ?? []) as readonly string[]
}
