// Delays the ready report. Most pull requests merge within seconds, so one comment about the merge saves an email and a
// GitHub write.
import type { Snapshot } from '../../change/snapshot.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { JobContext } from './job-context.ts'
import { sinceHeads, sinceHeadShape } from './since-heads.ts'

/**
 * Seconds to wait for the merge, about the time for a queue of a hundred. Check runs appear at once. An outdated
 * comment is replaced sooner.
 */
const patience = { first: 120, edit: 30 } as const

/** If lost, the report is delayed again. */
const millisecondsReady = sinceHeads(defineCache('ready since', sinceHeadShape))

/** Returns 0 if the report is due. */
export async function secondsToSayReady(
  snapshot: Snapshot,
  place: JobContext<Cache>,
  what: keyof typeof patience,
): Promise<number> {
  const ready = await millisecondsReady(snapshot, place)
  return Math.max(0, Math.ceil(patience[what] - ready / 1000))
}
