// The commits of a pull request, brought here; or why git does not take them. A head that git refuses is refused each time: it
// is said once, and not fetched again until there is another one.
import { z } from 'zod'
import type { CommitSha } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import { pullKey } from '../../change/repository-key.ts'
import { isGitError } from '../../git/git-error.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import { fetchAgreeing } from './fetch-agreeing.ts'
import type { JobContext } from './job-context.ts'

export type Brought =
  | { readonly kind: 'here'; readonly snapshot: Snapshot }
  /** GitHub's answers and git's do not agree yet. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'malformed'; readonly why: string }

const refusedHead = z.object({ head: z.string(), why: z.string() })
/** Heads that git refused, by pull request. Forgotten, they are fetched and refused once more. */
const refusedHeads = defineCache<z.infer<typeof refusedHead>>('refused head', {
  version: 1,
  read: (stored) => refusedHead.safeParse(stored).data,
})
const rememberedSeconds = 30 * 24 * 3600

/** Rejects with a GitError of anything but the head, and with a ForgeError or StoreError. */
export async function bringCommits(snapshot: Snapshot, place: JobContext<Cache>): Promise<Brought> {
  const { repository, app } = place
  const key = pullKey(snapshot.repository, snapshot.pull)
  const before = (await app.store.getCached(refusedHeads, [key])).get(key)
  if (before?.head === snapshot.head) {
    await repository.fetch(snapshot.baseRef)
    return { kind: 'malformed', why: before.why }
  }
  try {
    const fetched = await fetchAgreeing(snapshot, place)
    return fetched === undefined ? { kind: 'stale' } : { kind: 'here', snapshot: fetched }
  } catch (error) {
    if (!isGitError(error, 'corrupt')) throw error
    // What speaks against the base branch, or against our own mirror, is nothing that the author did.
    await repository.fetch(snapshot.baseRef)
    const why = whyRefused(error.message)
    await app.store.putCached(refusedHeads, new Map([[key, refused(snapshot.head, why)]]), rememberedSeconds)
    return { kind: 'malformed', why }
  }
}

const refused = (head: CommitSha, why: string) => ({ head, why })

/** Git's word for what is wrong, and with which object: `git fsck` has a list of these words. */
function whyRefused(said: string): string {
  const [, object, word] = /\bobject ([0-9a-f]{40}): ([A-Za-z]{1,40})\b/.exec(said) ?? []
  return object === undefined ? 'an object in them is malformed' : `object ${object}: ${word}`
}
