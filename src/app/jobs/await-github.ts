// Handles the moment between a pushed merge and GitHub noticing it: the pull request still reads as open, but its
// branch already contains its head.
import type { Snapshot } from '../../change/snapshot.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Store } from '../../ports/store.ts'
import { isLanded } from './is-landed.ts'
import type { JobContext } from './job-context.ts'
import { settleBegun } from './settle-begun.ts'
import { sinceHeads, sinceHeadShape } from './since-heads.ts'

/** After this time, a person's push that left the pull request open is reported. */
const patienceSeconds = 30

/** If lost, the wait for GitHub starts over. */
const millisecondsContained = sinceHeads(defineCache('contained head', sinceHeadShape))

/**
 * Decides what to do with an open pull request whose base branch contains its head. `merged`: by us, and recorded.
 * `wait`: for GitHub or the merging process. `open`: GitHub leaves it open. Rejects with a GitError, ForgeError or
 * StoreError.
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
