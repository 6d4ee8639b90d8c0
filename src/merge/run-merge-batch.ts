// Merges the ready pull requests of a branch under its lease. Evaluates each on top of the previous one with the data
// of the earlier evaluation, then reads all of them once from GitHub and pushes them together. If each must be merged
// separately, merges one after another for a few seconds. A shutdown waits for the push, and the next process
// continues.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { type PullSnapshot, toRepositoryKey } from '../pull-request/snapshot.ts'
import {
  maxBatchSize,
  canMergeBatchInOnePush,
  computeNextBatchSize,
  sortReadyPullsForBatch,
} from '../policy/batch.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { mergePullUnderLease, areSnapshotsEquivalent } from './merge-pull.ts'
import { mergePullBatch, type MergeBatchMember } from './merge-batch.ts'
import type { MergeOutcome, PlannedMerge } from './merge-types.ts'
import { acquireAutoRenewingLease, toMergeLeaseName } from '../jobs/auto-renewing-lease.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { JobOfKind, Lease } from '../ports/jobs.ts'
import type { Store } from '../ports/store.ts'
import { type JobContext, requeuePull, isBranchManagedByBot } from '../jobs/job-context.ts'
import { decideEvaluationAgain, evaluateInWorker } from '../evaluate/evaluate-in-worker.ts'
import type { PullEvaluation } from '../evaluate/pull-evaluation.ts'
import { addCheckRunDigest } from '../jobs/publish-report.ts'
import { recordMergeQueueBranchUse } from './merge-queue-state.ts'
import { recordEvaluation, composePullReport, toVerdictRecord } from '../evaluate/publish-evaluation.ts'
import { handleMergeRejection, clearMergeRejections, haveBranchRulesChanged } from './rejected-pulls.ts'
import { createMergeRecoveryOptions } from './recover-merges.ts'
import { wasMergeAnnounced } from '../jobs/merged-report.ts'
import { initializeBranchState } from '../jobs/branch-state.ts'
import { toMergePlanInput, fetchBranchRules } from '../evaluate/merge-plan-input.ts'
import { readConfig } from '../catalogs/read-config.ts'
import { chooseMergeStrategy } from '../policy/choose-merge-strategy.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'

type MergeBatchJob = JobOfKind<'train'>
type MergeBatchContext = JobContext<Store>

/**
 * Seconds in which GitHub normally notices a pushed merge and sends a delivery, whose evaluation writes the report.
 * Without a delivery, the pull request is evaluated after this time.
 */
const mergeWebhookGraceSeconds = 3
/** Seconds until retry while another merge is in progress on the branch. */
const busyBranchRetrySeconds = 2
/**
 * Milliseconds in which a batch takes members. Permissions were read up to half a minute earlier
 * (catalogs/gather-lookup-results.ts); this bounds their additional age at the push.
 */
const batchSelectionWindowMs = 15_000
/** Milliseconds of single merges before the branch is read again and other jobs run. */
const singleMergeTimeoutMs = 10_000

/** Maximum size of a branch's next batch. If lost, a long batch is tried and rejected once more. */
const batchSizeLimitCache = defineCacheNamespace<number>('train length', 1, (stored) =>
  typeof stored === 'number' && Number.isInteger(stored) && stored > 0 ? stored : undefined,
)
const batchSizeLimitTtlSeconds = 600

interface EvaluatedBatchMember extends MergeBatchMember {
  readonly evaluation: PullEvaluation
}

/** Rejects with a ForgeError, GitError or StoreError. */
export async function runMergeBatch(job: MergeBatchJob, ctx: MergeBatchContext): Promise<void> {
  const { store } = ctx.app
  if ((await store.readyPulls(job.repository, job.branch)).length === 0) return
  const renewedLease = await acquireAutoRenewingLease(toMergeLeaseName(job.repository, job.branch), ctx.app)
  if (renewedLease === undefined) return store.enqueue(job, busyBranchRetrySeconds)
  let isBusy: boolean
  try {
    isBusy = await mergeNextBatch(job, renewedLease.lease, ctx)
  } finally {
    await renewedLease.release()
  }
  // Includes pull requests that arrived while the lease was held.
  if ((await store.readyPulls(job.repository, job.branch)).length > 0)
    await store.enqueue(job, isBusy ? busyBranchRetrySeconds : 0)
}

async function mergeNextBatch(job: MergeBatchJob, lease: Lease, ctx: MergeBatchContext): Promise<boolean> {
  const { app, repository } = ctx
  const [isManaged] = await Promise.all([isBranchManagedByBot(job.branch, ctx), repository.fetch(job.branch)])
  if (!isManaged) {
    const ready = await app.store.readyPulls(job.repository, job.branch)
    await requeuePulls(
      ready.map(({ pull }) => pull),
      ctx,
    )
    return false
  }
  const end = app.clock.now() + singleMergeTimeoutMs
  for (;;) {
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return true
    await initializeBranchState(job.branch, tip, ctx)
    const { members, unready } = await selectMergeBatch(job, tip, ctx)
    let result: MergeBatchOutcome
    try {
      result = await mergeBatch(members, job, lease, ctx)
    } finally {
      // After the others merged, because one of those merges may be the reason.
      await requeuePulls(unready, ctx)
    }
    if (result !== 'alone' || app.clock.now() > end) return result === 'busy'
  }
}

/** `busy`: nothing can merge at the moment. `alone`: one was merged alone, and the next can follow. */
type MergeBatchOutcome = 'busy' | 'alone' | 'over'

async function mergeBatch(
  members: readonly EvaluatedBatchMember[],
  job: MergeBatchJob,
  lease: Lease,
  ctx: MergeBatchContext,
): Promise<MergeBatchOutcome> {
  const [first] = members
  if (first === undefined) return 'over'
  const outcomes =
    members.length > 1
      ? await mergePullsTogether(members, job, lease, ctx)
      : new Map([[first.permit.merge.pull, await mergeSinglePull(first, lease, ctx)]])
  const isMerged = ({ permit }: MergeBatchMember) => outcomes.get(permit.merge.pull)?.kind === 'landed'
  const merged = members.filter(isMerged).map(({ evaluation }) => evaluation.snapshot)
  await clearMergeRejections(merged, ctx)
  let result: MergeBatchOutcome = 'over'
  for (const member of members) {
    const outcome = outcomes.get(member.permit.merge.pull)
    if (outcome === undefined) continue
    ctx.app.log.info(
      { pull: member.permit.merge.pull, repository: job.repository, outcome: outcome.kind },
      'landing',
    )
    if (outcome.kind === 'busy') result = 'busy'
    else await handleMergeOutcome(member, outcome, ctx)
    if (outcome.kind === 'landed' && members.length === 1) result = 'alone'
  }
  return result
}

/** Returns the members, each with a permit based on the one before it, and the pull requests that are not ready. */
async function selectMergeBatch(
  job: MergeBatchJob,
  tip: CommitSha,
  ctx: MergeBatchContext,
): Promise<{ readonly members: readonly EvaluatedBatchMember[]; readonly unready: readonly PullNumber[] }> {
  const { store, clock } = ctx.app
  let end = clock.now() + batchSelectionWindowMs
  const key = `${toRepositoryKey(job.repository)} ${job.branch}`
  const maxMembers = (await store.getCached(batchSizeLimitCache, [key])).get(key) ?? maxBatchSize
  const members: EvaluatedBatchMember[] = []
  const unready: PullNumber[] = []
  let base = tip
  for (const { snapshot } of sortReadyPullsForBatch(await store.readyPulls(job.repository, job.branch))) {
    if (members.length >= maxMembers || (members.length > 0 && clock.now() > end)) break
    const member = await revalidatePullForBatch({ ...snapshot, base }, ctx)
    if (member === undefined) {
      unready.push(snapshot.pull)
      continue
    }
    const sharing =
      ctx.repository.pushMergeBatch !== undefined &&
      canMergeBatchInOnePush(member.planned.plan, member.planned.rules)
    // A pull request that must merge alone waits for those before it.
    if (members.length > 0 && !sharing) break
    members.push(member)
    end = Math.min(end, member.evaluation.startedAt + batchSelectionWindowMs)
    if (!sharing) break
    base = member.permit.merge.commit
  }
  return { members, unready }
}

/** Evaluates a pull request on top of the earlier members. Undefined if it needs a full evaluation. */
async function revalidatePullForBatch(
  snapshot: PullSnapshot,
  ctx: MergeBatchContext,
): Promise<EvaluatedBatchMember | undefined> {
  const { app, repository } = ctx
  if ((await repository.pullHead(snapshot.pull)) !== snapshot.head) {
    await repository.fetch(snapshot.baseRef, snapshot.pull)
    if ((await repository.pullHead(snapshot.pull)) !== snapshot.head) return undefined
  }
  const ready = app.readyEvaluations.take(snapshot)
  const known =
    ready !== undefined && areSnapshotsEquivalent(ready.snapshot, snapshot)
      ? await decideEvaluationAgain(ready, ctx)
      : undefined
  const evaluation = known ?? (await evaluateInWorker(snapshot, ctx, { isUrgent: true }))
  const { permit } = evaluation.verdict
  if (permit === undefined || evaluation.commands.length > 0) return undefined
  // The merge report is built from this record, even after a crash.
  if (known === undefined) {
    await app.store.recordVerdict(toVerdictRecord(evaluation, app.clock.now()))
    await recordEvaluation(evaluation, ctx)
  }
  const planned = await planMerge(permit.merge, ctx)
  const checks = composePullReport(evaluation, ctx).checks.map(addCheckRunDigest)
  return { evaluated: evaluation, permit, evaluation, planned, checks }
}

async function mergeSinglePull(
  { evaluated, permit, planned, checks }: EvaluatedBatchMember,
  lease: Lease,
  ctx: MergeBatchContext,
) {
  return mergePullUnderLease(evaluated, permit, lease, {
    ...createMergeRecoveryOptions(ctx),
    forge: ctx.forge,
    plan: () => Promise.resolve(planned),
    checks,
  })
}

async function mergePullsTogether(
  members: readonly EvaluatedBatchMember[],
  job: MergeBatchJob,
  lease: Lease,
  ctx: MergeBatchContext,
): Promise<ReadonlyMap<PullNumber, MergeOutcome>> {
  triggerCrashPoint('lease-taken')
  const { store, log } = ctx.app
  const { outcomes, rejection } = await mergePullBatch(members, lease, {
    ...createMergeRecoveryOptions(ctx),
    forge: ctx.forge,
  })
  const { length } = members
  const key = `${toRepositoryKey(job.repository)} ${job.branch}`
  const mergedCount = [...outcomes.values()].filter(({ kind }) => kind === 'landed').length
  log.info(
    { repository: job.repository, branch: job.branch, length, landed: mergedCount, refused: rejection },
    'train',
  )
  if (rejection !== undefined || mergedCount === length)
    await store.putCached(
      batchSizeLimitCache,
      new Map([[key, computeNextBatchSize(length, rejection === undefined ? 'landed' : 'refused')]]),
      batchSizeLimitTtlSeconds,
    )
  return outcomes
}

/** Handles a merge outcome. The pull request's own job reports it. */
async function handleMergeOutcome(
  { evaluation }: EvaluatedBatchMember,
  outcome: MergeOutcome,
  ctx: MergeBatchContext,
): Promise<void> {
  const { app } = ctx
  const { repository, pull, baseRef } = evaluation.snapshot
  switch (outcome.kind) {
    case 'landed':
      // GitHub's delivery may already have been handled. Enqueues first, because without webhooks, a sweep does not find
      // a merged pull request.
      if (!(await wasMergeAnnounced(pull, outcome.commit, ctx)))
        await requeuePull(pull, ctx, mergeWebhookGraceSeconds)
      await app.store.dropReady(repository, [pull])
      return
    case 'queued':
      await recordMergeQueueBranchUse(repository, baseRef, true, app.store)
      await app.store.dropReady(repository, [pull])
      return
    case 'refused':
      // The plan may use rules that are an hour old; if they changed, try the new ones.
      if (!(await haveBranchRulesChanged(baseRef, ctx)))
        await handleMergeRejection(evaluation.snapshot, outcome.rejection, ctx)
      return requeuePulls([pull], ctx)
    case 'again':
    case 'mismatch':
      return requeuePulls([pull], ctx)
    case 'busy':
      return
  }
}

/** Removes them from the queue before the evaluation, which adds those that are ready. */
async function requeuePulls(pulls: readonly PullNumber[], ctx: MergeBatchContext): Promise<void> {
  await ctx.app.store.dropReady(ctx.forge.repository, pulls)
  for (const pull of pulls) await requeuePull(pull, ctx)
}

/** Rejects with a ForgeError or GitError when the rules, or what the pull request changes, cannot be read. */
async function planMerge(intent: ValidatedMerge, ctx: JobContext<Cache>): Promise<PlannedMerge> {
  const { repository, app, forge } = ctx
  const source = { forge, store: app.store, clock: app.clock }
  const { rules, permissions } = await fetchBranchRules(source, intent.baseRef)
  const { config } = await readConfig(repository, await repository.treeOf(intent.base))
  if (rules.mergeQueue) await recordMergeQueueBranchUse(forge.repository, intent.baseRef, true, app.store)
  const { credentials, actsAs = credentials?.appId ?? 0 } = app.settings
  const branch = toMergePlanInput(config, { rules, permissions, app: actsAs })
  const changes = await repository.diff(await repository.treeOf(intent.base), intent.tree)
  const plan = chooseMergeStrategy({
    ...branch,
    pull: {
      containsBase: await repository.contains(intent.head, intent.base),
      editsWorkflows: changes.some(({ path }) => path.startsWith('.github/workflows/')),
    },
  })
  if (plan.method !== undefined) return { plan, rules }
  const isOwn = chooseMergeStrategy(branch).method !== undefined
  return { plan, rules, shutFor: isOwn ? 'pull' : 'branch' }
}
