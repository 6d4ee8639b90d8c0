// Whether people are told at once that a pull request is ready. Usually it is merged within seconds, and its one comment then
// says that: nobody gets a mail of what is over, and GitHub one write less. One that still waits is told that it is ready.
import type { Snapshot } from '../../change/snapshot.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { JobContext } from './job-context.ts'
import { sinceHeads, sinceHeadShape } from './since-heads.ts'

/**
 * Seconds for which a landing is waited for with the comment: as long as a line of a hundred takes. What the check runs say is
 * there at once. A comment that says something else by now is not left so for as long.
 */
const patience = { first: 120, edit: 30 } as const

/** Forgotten, it is told half a minute later that the pull request is ready. */
const millisecondsReady = sinceHeads(defineCache('ready since', sinceHeadShape))

/** Seconds until it must be said that this pull request is ready, by a first comment or an edit, if it is not merged by then. 0: now. */
export async function secondsToSayReady(
  snapshot: Snapshot,
  place: JobContext<Cache>,
  what: keyof typeof patience,
): Promise<number> {
  const ready = await millisecondsReady(snapshot, place)
  return Math.max(0, Math.ceil(patience[what] - ready / 1000))
}
