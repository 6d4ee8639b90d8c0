// Handles a closed pull request: settles and reports a merge by an earlier process.
import type { PullSnapshot } from '../../pull-request/snapshot.ts'
import { triggerCrashPoint } from '../../jobs/crash-point.ts'
import { recoverMerge } from '../../merge/recover-merges.ts'
import type { OwnReports } from '../../ports/forge.ts'
import type { Store } from '../../ports/store.ts'
import { executeClosedPullCommands } from './closed-pull-commands.ts'
import type { JobContext } from '../../jobs/job-context.ts'
import { requeuePull } from '../../jobs/requeue-pull.ts'
import { cancelPreviews } from '../../publish/request-preview.ts'
import { recordPullClosedOrMerged } from '../../evaluate/record-evaluation.ts'
import { isServedBranch } from '../../jobs/is-served-branch.ts'
import { reportMergedByOthers } from '../../merge/report-unserved-pull.ts'
import { republishMergedReport } from '../../jobs/merged-report.ts'
import { recoverPendingMerge } from '../../merge/recover-pending-merge.ts'
import { createMergeRecoveryOptions } from '../../merge/merge-recovery-options.ts'
import { markMergeAnnounced } from '../../jobs/announced-merges.ts'
import { cancelClusterTests } from '../../cluster-test/request-cluster-test.ts'

/** Seconds until retry while a merge on its branch is in progress. */
const pendingMergeRetrySeconds = 5

/** `present`: our comment and check runs when it was read. Rejects with a GitError, ForgeError or StoreError. */
export async function handleClosedPull(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
  present?: OwnReports,
): Promise<void> {
  await finishClosedPull(snapshot, ctx, present)
  await executeClosedPullCommands(snapshot, ctx)
}

async function finishClosedPull(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
  present: OwnReports | undefined,
): Promise<void> {
  const { app, forge } = ctx
  await app.store.dropReady(forge.repository, [snapshot.pull])
  await cancelPreviews(snapshot.pull, ctx)
  // An install test of a merged pull request runs to its end, because the report covers it.
  if (snapshot.state === 'closed') await cancelClusterTests(snapshot.pull, ctx)
  const open = await app.store.listPendingMerges(forge.repository)
  for (const intent of open)
    if (intent.pull === snapshot.pull && intent.method?.kind === 'queue')
      await recoverMerge(intent, createMergeRecoveryOptions(ctx))
  // The merging process knows GitHub's answer, so let it settle the merge.
  const isSettled = await recoverPendingMerge(snapshot.pull, ctx)
  if (!isSettled) await requeuePull(snapshot.pull, ctx, pendingMergeRetrySeconds)
  if (snapshot.state === 'merged') await recoverLateMerge(snapshot, ctx)
  const merge = await republishMergedReport(snapshot.pull, ctx, { present })
  await recordPullClosedOrMerged(
    snapshot,
    snapshot.state === 'merged' || merge !== undefined ? 'merged' : 'closed',
    ctx,
  )
  if (merge === undefined) {
    const isOpen = (await app.store.listPendingMerges(forge.repository)).some(
      ({ pull }) => pull === snapshot.pull,
    )
    if (
      snapshot.state === 'merged' &&
      isSettled &&
      !isOpen &&
      (await isServedBranch(snapshot.baseRef, ctx, { allowCached: true }))
    )
      await reportMergedByOthers(snapshot, ctx, present)
    return
  }
  triggerCrashPoint('landing-reported')
  await markMergeAnnounced(snapshot.pull, merge.commit, ctx)
  await app.store.enqueue({
    kind: 'branch',
    installation: ctx.installation,
    repository: forge.repository,
    branch: merge.baseRef,
  })
}

/** A push that was given up may still have arrived; the branch shows that. */
async function recoverLateMerge({ repository, pull }: PullSnapshot, ctx: JobContext<Store>): Promise<void> {
  const { store } = ctx.app
  if ((await store.findMerge(repository, pull)) !== undefined) return
  for (const intent of await store.listAbandonedMerges(repository, pull)) {
    // catalog-bot or a person may have requested GitHub's merge.
    if (intent.method !== undefined && intent.method.kind !== 'push') continue
    if ((await recoverMerge(intent, createMergeRecoveryOptions(ctx))).kind === 'landed') return
  }
}
