// Caches the inputs of a waiting pull request's evaluation for an hour. When its base moves, it is judged again without
// requests. This can only confirm the verdict; any difference needs a full evaluation, and no permit is minted here.
import { z } from 'zod'
import { questionKey } from '../../checks/questions.ts'
import type { CommitSha } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import { pullKey } from '../../change/repository-key.ts'
import type { Answer } from '../../examine/gather-answers.ts'
import { defineCache } from '../../ports/cache.ts'
import type { OpenPull } from '../../ports/forge.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { lookAtPull, type Seen } from './look-at-pull.ts'
import { digestOfShown, recordOf } from './show-look.ts'

/** Same as the sweep's interval for unchanged pull requests: permissions and registries change too. */
const keptSeconds = 3600
/** Characters; larger answers are not cached. */
const largestKept = 256 * 1024

const keptLook = z.object({
  at: z.number(),
  snapshot: z.custom<Snapshot>((value) => typeof value === 'object' && value !== null),
  answers: z.array(z.tuple([z.string(), z.custom<Answer>()])),
  shown: z.string(),
})
const keptLooks = defineCache<z.infer<typeof keptLook>>('kept look', {
  version: 1,
  read: (stored) => keptLook.safeParse(stored).data,
})
export async function keepLook(
  seen: Seen,
  answers: ReadonlyMap<string, Answer>,
  place: JobContext<Store>,
): Promise<void> {
  const { store, clock } = place.app
  const { snapshot } = seen
  // Unanswered questions are asked again anyway.
  if ([...answers.values()].some(({ kind }) => kind === 'unknown')) return
  const shown = await digestOfShown(seen, place)
  const kept = { at: clock.now(), snapshot, answers: [...answers], shown }
  if (JSON.stringify(kept).length > largestKept) return
  await store.putCached(
    keptLooks,
    new Map([[pullKey(snapshot.repository, snapshot.pull), kept]]),
    keptSeconds,
  )
}

/**
 * Returns for how many more seconds the cached inputs confirm the published verdict on the new tip, or undefined if a
 * full evaluation is needed.
 */
export async function standsStill(
  open: OpenPull,
  tip: CommitSha,
  place: JobContext<Store>,
  openPulls: readonly OpenPull[],
): Promise<number | undefined> {
  const { app, forge, repository } = place
  const key = pullKey(forge.repository, open.pull)
  const kept = (await app.store.getCached(keptLooks, [key])).get(key)
  if (kept === undefined) return undefined
  const left = Math.floor(keptSeconds - (app.clock.now() - kept.at) / 1000)
  const { snapshot } = kept
  if (left <= 0 || snapshot.head !== open.head || snapshot.baseRef !== open.baseRef) return undefined
  if ((await repository.pullHead(open.pull)) !== open.head) return undefined
  const answers = new Map(kept.answers)
  let hasAll = true
  const seen = await lookAtPull({ ...snapshot, base: tip }, place, undefined, {
    openPulls: () => Promise.resolve(openPulls),
    ask: (question) => {
      const known = answers.get(questionKey(question))
      if (known === undefined) hasAll = false
      return Promise.resolve(known ?? { kind: 'unknown', reason: 'it was not asked', retryAfter: 60 })
    },
  })
  if (!hasAll || seen.verdict.permit !== undefined || seen.commands.length > 0) return undefined
  if ((await digestOfShown(seen, place)) !== kept.shown) return undefined
  await app.store.recordVerdict(recordOf(seen, app.clock.now()))
  return left
}
