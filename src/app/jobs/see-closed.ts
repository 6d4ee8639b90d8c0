// A pull request that is closed: if an earlier process landed it, that is settled and said.
import type { Snapshot } from '../../change/snapshot.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { settle } from '../../landing/settle-landings.ts'
import type { Present } from '../../ports/forge.ts'
import type { Store } from '../../ports/store.ts'
import { obeyOnClosed } from './closed-commands.ts'
import type { JobContext } from './job-context.ts'
import { lookAgain } from './look-again.ts'
import { dropPreviews } from './publish/wish-preview.ts'
import { recordEnd } from './record-look.ts'
import { isServed } from './is-served.ts'
import { reportMergedElsewhere } from './report-elsewhere.ts'
import { reportMerged } from './report-merged.ts'
import { settleBegun } from './settle-begun.ts'
import { settleOptions } from './settle-options.ts'
import { noteTold } from './told-landings.ts'
import { dropTrials } from './trial/wish-trial.ts'

/** Seconds after which it is looked at again, because somebody is landing on its branch. */
const landingSeconds = 5

/**
 * `present`: what of ours was on it when it was read. Rejects with a GitError, ForgeError or StoreError.
 */
export async function seeClosed(
  snapshot: Snapshot,
  place: JobContext<Store>,
  present?: Present,
): Promise<void> {
  await finishClosed(snapshot, place, present)
  await obeyOnClosed(snapshot, place)
}

async function finishClosed(
  snapshot: Snapshot,
  place: JobContext<Store>,
  present: Present | undefined,
): Promise<void> {
  const { app, forge } = place
  await app.store.dropReady(forge.repository, [snapshot.pull])
  await dropPreviews(snapshot.pull, place)
  // What is merged meanwhile is tried to its end: its report says what was merged.
  if (snapshot.state === 'closed') await dropTrials(snapshot.pull, place)
  const open = await app.store.openLandings(forge.repository)
  for (const intent of open)
    if (intent.pull === snapshot.pull && intent.method?.kind === 'queue')
      await settle(intent, settleOptions(place))
  // Who is landing it right now knows what GitHub answered, and reads the branch with that.
  const isSettled = await settleBegun(snapshot.pull, place)
  if (!isSettled) await lookAgain(snapshot.pull, place, landingSeconds)
  if (snapshot.state === 'merged') await findLate(snapshot, place)
  const landing = await reportMerged(snapshot.pull, place, { present })
  await recordEnd(snapshot, snapshot.state === 'merged' || landing !== undefined ? 'merged' : 'closed', place)
  if (landing === undefined) {
    const isOpen = (await app.store.openLandings(forge.repository)).some(({ pull }) => pull === snapshot.pull)
    if (
      snapshot.state === 'merged' &&
      isSettled &&
      !isOpen &&
      (await isServed(snapshot.baseRef, place, { kept: true }))
    )
      await reportMergedElsewhere(snapshot, place, present)
    return
  }
  crashPoint('landing-reported')
  await noteTold(snapshot.pull, landing.commit, place)
  await app.store.enqueue({
    kind: 'branch',
    installation: place.installation,
    repository: forge.repository,
    branch: landing.baseRef,
  })
}

/** What was given up before its push arrived is merged all the same: the branch says so, and then so do we. */
async function findLate({ repository, pull }: Snapshot, place: JobContext<Store>): Promise<void> {
  const { store } = place.app
  if ((await store.landingOf(repository, pull)) !== undefined) return
  for (const intent of await store.abandonedLandings(repository, pull)) {
    // Of what GitHub itself merged, nobody knows whether it was for us or for somebody else.
    if (intent.method !== undefined && intent.method.kind !== 'push') continue
    if ((await settle(intent, settleOptions(place))).kind === 'landed') return
  }
}
