// Handles a closed pull request: settles and reports a merge by an earlier process.
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

/** Seconds until retry while a merge on its branch is in progress. */
const landingSeconds = 5

/** `present`: our comment and check runs when it was read. Rejects with a GitError, ForgeError or StoreError. */
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
  // A trial of a merged pull request runs to its end, because the report covers it.
  if (snapshot.state === 'closed') await dropTrials(snapshot.pull, place)
  const open = await app.store.openLandings(forge.repository)
  for (const intent of open)
    if (intent.pull === snapshot.pull && intent.method?.kind === 'queue')
      await settle(intent, settleOptions(place))
  // The merging process knows GitHub's answer, so let it settle the merge.
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

/** A push that was given up may still have arrived; the branch shows that. */
async function findLate({ repository, pull }: Snapshot, place: JobContext<Store>): Promise<void> {
  const { store } = place.app
  if ((await store.landingOf(repository, pull)) !== undefined) return
  for (const intent of await store.abandonedLandings(repository, pull)) {
    // catalog-bot or a person may have requested GitHub's merge.
    if (intent.method !== undefined && intent.method.kind !== 'push') continue
    if ((await settle(intent, settleOptions(place))).kind === 'landed') return
  }
}
