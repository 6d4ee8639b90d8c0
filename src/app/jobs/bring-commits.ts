// Fetches the commits of a pull request, or reports why git rejects them. A rejected head is reported once and not
// fetched again.
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
  /** GitHub and git do not agree yet. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'malformed'; readonly why: string }

const refusedHead = z.object({ head: z.string(), why: z.string() })
/** If lost, the heads are fetched and rejected again. */
const refusedHeads = defineCache<z.infer<typeof refusedHead>>('refused head', {
  version: 1,
  read: (stored) => refusedHead.safeParse(stored).data,
})
const rememberedSeconds = 30 * 24 * 3600

/** Rejects with a GitError that does not concern the head, a ForgeError or a StoreError. */
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
    // Errors in the base branch or our mirror are not the author's.
    await repository.fetch(snapshot.baseRef)
    const why = whyRefused(error.message)
    await app.store.putCached(refusedHeads, new Map([[key, refused(snapshot.head, why)]]), rememberedSeconds)
    return { kind: 'malformed', why }
  }
}

const refused = (head: CommitSha, why: string) => ({ head, why })

/** Returns the message id and object that `git fsck` reports. */
function whyRefused(said: string): string {
  const [, object, word] = /\bobject ([0-9a-f]{40}): ([A-Za-z]{1,40})\b/.exec(said) ?? []
  return object === undefined ? 'an object in them is malformed' : `object ${object}: ${word}`
}
