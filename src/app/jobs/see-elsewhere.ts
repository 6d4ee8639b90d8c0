// A pull request for a branch that the bot does not work for is not judged. That it was there is remembered all the same: a yes
// that was given before it went does not count when it comes back (T18, I4).
import type { Snapshot } from '../../change/snapshot.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'

/** No configuration has this digest: what is seen here is a state of its own. */
const unserved = 'not served'

/** Rejects with a StoreError. */
export async function seeElsewhere(
  { repository, pull, head, baseRef, reviews }: Snapshot,
  store: Pick<PullMemory, 'observe' | 'firstSeenReviews'>,
): Promise<void> {
  const epoch = await store.observe(repository, pull, { head, baseRef, config: unserved })
  // GitHub does not say for which branch a review was: one that is first seen here is not of what comes back.
  await store.firstSeenReviews(
    repository,
    pull,
    epoch,
    reviews.map(({ id }) => id),
  )
}
