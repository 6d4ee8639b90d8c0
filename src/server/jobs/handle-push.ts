// Rebuilds changed catalogs after a push: dispatches the configured workflow or event once per commit and reports the
// outcome on the commit.
import { type CommitSha } from '../../pull-request/ids.ts'
import { isPathUnder, type CatalogRoot } from '../../pull-request/layout/layout.ts'
import { findChangedSymlinks } from '../../catalogs/changed-links.ts'
import { readRepositoryLayout } from '../../catalogs/find-layout.ts'
import type { Config } from '../../config/config.ts'
import { ForgeError } from '../../adapters/github/forge-error.ts'
import { renderRebuildCheck, type RebuildState } from '../../report/rebuild-check.ts'
import type { ForgeAction } from '../../ports/forge.ts'
import type { Job, JobQueue } from '../../ports/jobs.ts'
import type { MergeRecordStore } from '../../ports/merge-records.ts'
import type { Cache } from '../../ports/cache.ts'
import type { LeaseStore } from '../../ports/leases.ts'
import type { StatusPageStore } from '../../ports/page-records.ts'
import { type StateStore } from '../../ports/state.ts'
import { triggerCrashPoint } from '../../jobs/crash-point.ts'
import { addDigestToCheckRunContent, publishMissingCheckRuns } from '../../jobs/publish-report.ts'
import { readConfig } from '../../catalogs/read-config.ts'
import { toMergeLeaseName } from '../../jobs/renewed-lease.ts'
import { createCachedTreeReader } from '../../catalogs/cached-trees.ts'
import { advanceWebhookRebuild } from '../../publish/rebuild.ts'
import { auditPush, reportBrokenCatalogs } from '../../merge/audit-push.ts'
import { type JobContext, isBranchServedByBot } from '../../jobs/job-context.ts'
import { isReleaseJobNeeded } from '../../release/release-bundles.ts'
import { recordCatalogs } from './record-catalogs.ts'
import {
  readBranchState,
  writeBranchState,
  type BranchState,
  type PendingRebuild,
} from '../../jobs/branch-state.ts'

/** Seconds between polls; a webhook usually comes first. */
const rebuildPollSeconds = 20
/** Six hours, GitHub's own limit. Longer rebuilds are reported as unfinished. */
const rebuildTimeoutMs = 6 * 3600 * 1000

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
    for (const rebuild of state.rebuilds) {
      const next = await advanceRebuild(rebuild, config, job, ctx)
      const others: readonly PendingRebuild[] = state.rebuilds.filter(
        ({ commit }) => commit !== rebuild.commit,
      )
      state = { ...state, rebuilds: next === undefined ? others : [...others, next] }
      await writeBranchState(job, ctx, state)
    }
    if (state.rebuilds.length > 0)
      await app.store.enqueue(job, computeNextRebuildPollSeconds(state.rebuilds, app.clock.now()))
  } finally {
    await app.store.releaseLease(lease)
  }
}

function computeNextRebuildPollSeconds(rebuilds: readonly PendingRebuild[], now: number): number {
  const waits = rebuilds.map(({ again }) =>
    again === undefined ? rebuildPollSeconds : Math.max(1, Math.ceil((again - now) / 1000)),
  )
  return Math.min(rebuildPollSeconds, ...waits)
}

/** A newer commit replaces a rebuild that is not dispatched yet: only the newest state matters. */
async function queueRebuild(
  state: BranchState,
  tip: CommitSha,
  config: Config,
  branch: string,
  ctx: JobContext,
): Promise<BranchState> {
  const { workflow, event, webhook } = config.rebuild
  if (workflow === undefined && event === undefined && webhook === undefined) return { ...state, seen: tip }
  // The administrator's secret may sign only merged content of served branches.
  if (webhook !== undefined && !(await isBranchServedByBot(branch, ctx))) return { ...state, seen: tip }
  const running = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt !== undefined)
  const waiting = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt === undefined)
  const changed = await findChangedCatalogs(state.seen, tip, config, ctx)
  const catalogs = [...new Set([...waiting.flatMap((rebuild) => rebuild.catalogs), ...changed])].sort()
  if (catalogs.length === 0) return { ...state, seen: tip }
  for (const { commit, catalogs: taken } of waiting)
    await publishRebuildCheck(commit, taken, { kind: 'superseded', by: tip }, ctx)
  return { ...state, seen: tip, rebuilds: [...running, { commit: tip, catalogs }] }
}

async function findChangedCatalogs(
  from: CommitSha,
  to: CommitSha,
  config: Config,
  { repository }: JobContext,
): Promise<readonly string[]> {
  const after = await repository.treeOf(to)
  const entries = await repository.list(after)
  const { catalogs } = await readRepositoryLayout(repository, entries, config.catalogs)
  const before = await repository.treeOf(from).catch(() => undefined)
  // A forced push may have removed the old commit; treat everything as changed.
  if (before === undefined) return catalogs.flatMap(getCatalogNames)
  const changes = await repository.diff(before, after)
  // Compared from the new state, to use the base's entries.
  const links = await findChangedSymlinks(
    createCachedTreeReader(repository, { trees: new Map([[after, entries]]), blobs: new Map() }),
    {
      base: after,
      entries,
      result: before,
      differing: new Set(changes.map(({ path }) => path)),
    },
  )
  return catalogs
    .filter(({ root }) => [...changes, ...links].some(({ path }) => isPathUnder(path, root)))
    .flatMap(getCatalogNames)
}

function getCatalogNames({ root, names = [root] }: CatalogRoot): readonly string[] {
  return names
}

/** Returns undefined when the rebuild has ended. */
async function advanceRebuild(
  rebuild: PendingRebuild,
  config: Config,
  job: BranchJob,
  ctx: JobContext,
): Promise<PendingRebuild | undefined> {
  const { app, forge } = ctx
  const { commit, catalogs, dispatchedAt } = rebuild
  const { webhook } = config.rebuild
  if (webhook !== undefined) {
    const { next, shown } = await advanceWebhookRebuild(webhook, rebuild, job.branch, ctx)
    const gaveUp =
      dispatchedAt !== undefined && next !== undefined && app.clock.now() - dispatchedAt > rebuildTimeoutMs
    if (gaveUp) await publishRebuildCheck(commit, catalogs, { kind: 'received' }, ctx)
    else if (shown !== undefined) await publishRebuildCheck(commit, catalogs, shown, ctx)
    return gaveUp ? undefined : next
  }
  if (dispatchedAt === undefined) {
    await publishRebuildCheck(commit, catalogs, { kind: 'announced' }, ctx)
    triggerCrashPoint('rebuild-announced')
    const now = app.clock.now()
    try {
      await forge.perform(createRebuildDispatchAction(config, job.branch, commit, catalogs))
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      await publishRebuildCheck(commit, catalogs, { kind: 'not-dispatched', why: error.message }, ctx)
      return undefined
    }
    triggerCrashPoint('rebuild-dispatched')
    return { ...rebuild, dispatchedAt: now }
  }
  const outcome = await fetchRebuildOutcome(config, rebuild, job.branch, ctx)
  const gaveUp = outcome.kind === 'running' && app.clock.now() - dispatchedAt > rebuildTimeoutMs
  await publishRebuildCheck(commit, catalogs, gaveUp ? { kind: 'no-outcome' } : outcome, ctx)
  return outcome.kind === 'running' && !gaveUp ? rebuild : undefined
}

function createRebuildDispatchAction(
  config: Config,
  branch: string,
  commit: CommitSha,
  catalogs: readonly string[],
): ForgeAction {
  const { workflow, event } = config.rebuild
  return workflow !== undefined
    ? { kind: 'dispatch-workflow', workflow, ref: branch, inputs: { commit, catalogs: catalogs.join(' ') } }
    : { kind: 'dispatch-event', event: event ?? 'catalog-changed', payload: { branch, commit, catalogs } }
}

/** GitHub may date our run this much before our dispatch. */
const maxClockSkewMs = 120_000

/** Finds the first run after the dispatch whose commit contains ours; the branch may have moved on. */
async function fetchRebuildOutcome(
  config: Config,
  { commit, dispatchedAt = 0 }: PendingRebuild,
  branch: string,
  { forge, repository }: JobContext,
): Promise<RebuildState> {
  const { workflow } = config.rebuild
  try {
    const runs = await forge.listDispatchedRuns(
      workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch',
      branch,
    )
    for (const run of runs.toReversed()) {
      if (workflow !== undefined && !run.path.endsWith(`/${workflow}`)) continue
      if (Date.parse(run.createdAt) < dispatchedAt - maxClockSkewMs) continue
      if (!(await repository.contains(run.head, commit).catch(() => false))) continue
      if (run.status !== 'completed') return { kind: 'running', url: run.url }
      return { kind: run.conclusion === 'success' ? 'succeeded' : 'failed', url: run.url }
    }
    return { kind: 'running' }
  } catch (error) {
    if (error instanceof ForgeError && (error.code === 'forbidden' || error.code === 'not-found'))
      return { kind: 'no-outcome' }
    throw error
  }
}

async function publishRebuildCheck(
  commit: CommitSha,
  catalogs: readonly string[],
  state: RebuildState,
  { forge }: JobContext,
): Promise<void> {
  await publishMissingCheckRuns(forge, commit, [
    addDigestToCheckRunContent(renderRebuildCheck(catalogs, state)),
  ])
}
