// Merges already reported on their pull requests; nothing is left to do there.
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import { pullKey } from '../../change/repository-key.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { JobContext } from './job-context.ts'

/** The commit, by pull request. If lost, it is evaluated once more. */
const toldLandings = defineCache<string>('told landing', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})
/** The merging job asks within seconds. */
const rememberedSeconds = 3600

export async function noteTold(pull: PullNumber, commit: CommitSha, place: JobContext<Cache>): Promise<void> {
  await place.app.store.putCached(
    toldLandings,
    new Map([[pullKey(place.forge.repository, pull), commit]]),
    rememberedSeconds,
  )
}

export async function isTold(
  pull: PullNumber,
  commit: CommitSha,
  place: JobContext<Cache>,
): Promise<boolean> {
  const key = pullKey(place.forge.repository, pull)
  return (await place.app.store.getCached(toldLandings, [key])).get(key) === commit
}
