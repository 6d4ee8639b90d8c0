// Does not judge pull requests for unserved branches, but records them: approvals from before do not count when the
// pull request returns to a served branch.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'

/** Differs from every configuration digest. */
const unservedBranchConfigDigest = 'not served'

/** Rejects with a StoreError. */
export async function recordPullOnUnservedBranch(
  { repository, pull, head, baseRef, reviews }: PullSnapshot,
  store: Pick<PullHistoryStore, 'observe' | 'firstSeenReviews'>,
): Promise<void> {
  const epoch = await store.observe(repository, pull, { head, baseRef, config: unservedBranchConfigDigest })
  // GitHub does not tell a review's base branch; one first seen here does not count after the return.
  await store.firstSeenReviews(
    repository,
    pull,
    epoch,
    reviews.map(({ id }) => id),
  )
}
