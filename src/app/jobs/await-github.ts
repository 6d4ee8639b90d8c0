// A pull request that was read as open before its merge was pushed, and whose branch was fetched after it. GitHub notices a
// moment later. Until then it is no pull request without a change: whoever merged it tells what became of it.
import { z } from 'zod'
import type { Snapshot } from '../../change/snapshot.ts'
import { settleLeft } from '../../landing/settle-left.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { settleOptions } from './show-look.ts'

/** Who pushed something else, and left the pull request open, is told after so long. */
const patienceSeconds = 30
const rememberedSeconds = 24 * 3600

const containedHead = z.object({ head: z.string(), since: z.number() })
/** Since when a branch holds a pull request that is open. Forgotten, GitHub is waited for once more. */
const containedHeads = defineCache<z.infer<typeof containedHead>>('contained head', {
  version: 1,
  read: (stored) => containedHead.safeParse(stored).data,
})

/**
 * What to do about a pull request that is open though its base branch holds its head: `merged` by us, and on record; `wait`
 * for GitHub, or for whoever lands it; `open`: GitHub leaves it so. Rejects with a GitError, ForgeError or StoreError.
 */
export async function awaitGitHub(
  { repository, pull, head }: Snapshot,
  place: JobContext<Store>,
): Promise<'merged' | 'wait' | 'open'> {
  const { store, clock, settings } = place.app
  const isSettled = await settleLeft(repository, pull, {
    ...settleOptions(place),
    leaseSeconds: settings.leaseSeconds,
  })
  if ((await store.landingOf(repository, pull))?.head === head) return 'merged'
  if (!isSettled) return 'wait'
  const key = `${repository.owner}/${repository.name}#${pull}`.toLowerCase()
  const now = clock.now()
  const known = (await store.getCached(containedHeads, [key])).get(key)
  const since = known?.head === head ? known.since : now
  if (since === now)
    await store.putCached(containedHeads, new Map([[key, { head, since }]]), rememberedSeconds)
  return now - since < patienceSeconds * 1000 ? 'wait' : 'open'
}
