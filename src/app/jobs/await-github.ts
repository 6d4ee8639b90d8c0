// A pull request that was read as open before its merge was pushed, and whose branch was fetched after it. GitHub notices a
// moment later. Until then it is no pull request without a change: whoever merged it tells what became of it.
import type { Snapshot } from '../../change/snapshot.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Store } from '../../ports/store.ts'
import { isLanded } from './is-landed.ts'
import type { JobContext } from './job-context.ts'
import { settleBegun } from './settle-begun.ts'
import { sinceHeads, sinceHeadShape } from './since-heads.ts'

/** Who pushed something else, and left the pull request open, is told after so long. */
const patienceSeconds = 30

/** For a branch that holds the head of a pull request which is open. Forgotten, GitHub is waited for once more. */
const millisecondsContained = sinceHeads(defineCache('contained head', sinceHeadShape))

/**
 * What to do about a pull request that is open though its base branch holds its head: `merged` by us, and on record; `wait`
 * for GitHub, or for whoever lands it; `open`: GitHub leaves it so. Rejects with a GitError, ForgeError or StoreError.
 */
export async function awaitGitHub(
  snapshot: Snapshot,
  place: JobContext<Store>,
): Promise<'merged' | 'wait' | 'open'> {
  const isSettled = await settleBegun(snapshot.pull, place)
  if (await isLanded(snapshot, place)) return 'merged'
  if (!isSettled) return 'wait'
  const contained = await millisecondsContained(snapshot, place)
  return contained < patienceSeconds * 1000 ? 'wait' : 'open'
}
