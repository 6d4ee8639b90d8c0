// Handles a push to a branch: requests publishing and releases, audits what others pushed, and rebuilds what changed.
import { readConfig } from '../../catalogs/read-config.ts'
import { readBranchState, writeBranchState } from '../../jobs/branch-state.ts'
import type { JobContext } from '../../jobs/job-context.ts'
import { toMergeLeaseName } from '../../jobs/renewed-lease.ts'
import { auditPush, reportBrokenCatalogs } from '../../merge/audit-push.ts'
import type { Cache } from '../../ports/cache.ts'
import type { Job, JobQueue } from '../../ports/jobs.ts'
import type { LeaseStore } from '../../ports/leases.ts'
import type { MergeRecordStore } from '../../ports/merge-records.ts'
import type { StatusPageStore } from '../../ports/page-records.ts'
import type { StateStore } from '../../ports/state.ts'
import { advanceRebuilds, queueRebuild } from '../../publish/rebuild.ts'
import { isReleaseJobNeeded } from '../../release/release-bundles.ts'
import { recordCatalogs } from './record-catalogs.ts'

type BranchJob = Extract<Job, { kind: 'branch' }>

export async function handlePush(
  job: BranchJob,
  ctx: JobContext<JobQueue & LeaseStore & StateStore & MergeRecordStore & Cache & StatusPageStore>,
): Promise<void> {
  await processBranchTip(job, ctx)
  await recordCatalogs(job.branch, ctx)
}

async function processBranchTip(
  job: BranchJob,
  ctx: JobContext<JobQueue & LeaseStore & StateStore & MergeRecordStore>,
): Promise<void> {
  const { app, repository } = ctx
  const name = `${toMergeLeaseName(job.repository, job.branch)} rebuild`
  const lease = await app.store.acquireLease(name, app.settings.leaseSeconds)
  if (lease === undefined) return app.store.enqueue(job, 2)
  try {
    await repository.fetch(job.branch)
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return
    let state = await readBranchState(job, ctx)
    const { config } = await readConfig(repository, await repository.treeOf(tip))
    // Publishing compares branches with images itself, so any change may matter to it.
    if (state?.seen !== tip || config.publish.length > 0)
      await app.store.enqueue({
        kind: 'publish',
        installation: job.installation,
        repository: job.repository,
      })
    if (await isReleaseJobNeeded(job.branch, tip, config, ctx))
      await app.store.enqueue({ ...job, kind: 'release' })
    if (state === undefined) return await writeBranchState(job, ctx, { seen: tip, rebuilds: [] })
    if (state.seen !== tip) {
      const { broken = [] } = state
      const now = await auditPush({ branch: job.branch, from: state.seen, tip, broken }, config, ctx)
      await reportBrokenCatalogs(job.branch, broken, now, ctx)
      state = { ...state, broken: now }
      state = await queueRebuild(state, tip, config, job.branch, ctx)
      await writeBranchState(job, ctx, state)
    }
    const pollSeconds = await advanceRebuilds(state, config, job, ctx)
    if (pollSeconds !== undefined) await app.store.enqueue(job, pollSeconds)
  } finally {
    await app.store.releaseLease(lease)
  }
}
