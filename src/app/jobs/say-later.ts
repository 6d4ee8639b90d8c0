// Whether people are told at once that a pull request is ready. Usually it is merged within seconds, and its one comment then
// says that: nobody gets a mail of what is over, and GitHub one write less. One that still waits is told that it is ready.
import { z } from 'zod'
import type { Snapshot } from '../../change/snapshot.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { JobContext } from './job-context.ts'

/**
 * Seconds for which a landing is waited for with the comment: as long as a line of a hundred takes. What the check runs say is
 * there at once. A comment that says something else by now is not left so for as long.
 */
const patience = { first: 120, edit: 30 } as const

const readyPull = z.object({ head: z.string(), since: z.number() })
/** Since when a pull request is ready. Forgotten, it is told that half a minute later. */
const readyPulls = defineCache<z.infer<typeof readyPull>>('ready since', {
  version: 1,
  read: (stored) => readyPull.safeParse(stored).data,
})
const rememberedSeconds = 24 * 3600

/** Seconds until it must be said that this pull request is ready, by a first comment or an edit, if it is not merged by then. 0: now. */
export async function secondsToSayReady(
  { repository, pull, head }: Snapshot,
  { app: { store, clock } }: JobContext<Cache>,
  what: keyof typeof patience,
): Promise<number> {
  const key = `${repository.owner}/${repository.name}#${pull}`.toLowerCase()
  const now = clock.now()
  const known = (await store.getCached(readyPulls, [key])).get(key)
  const since = known?.head === head ? known.since : now
  if (since === now) await store.putCached(readyPulls, new Map([[key, { head, since }]]), rememberedSeconds)
  return Math.max(0, Math.ceil(patience[what] - (now - since) / 1000))
}
