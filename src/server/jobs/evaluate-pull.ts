// Evaluates a pull request: snapshot, verdict, report, merge. Level-triggered: it reads everything again, so repeated,
// late or crashed runs converge.
import { toLookupKey, type LookupRequest } from '../../checks/lookups.ts'
import type { PullNumber } from '../../pull-request/ids.ts'
import { type PullSnapshot, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { LookupResult } from '../../catalogs/gather-lookup-results.ts'
import type { EvaluationSchedulingHints } from '../../evaluate/worker/evaluation-pool.ts'
import type { JobOfKind } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { triggerCrashPoint } from '../../jobs/crash-point.ts'
import { handleClosedPull, executeCommentCommands } from './handle-closed-pull.ts'
import {
  resolveOpenPullWithMergedHead,
  reportPullOnUnmanagedBranch,
} from '../../merge/externally-merged-pulls.ts'
import {
  fetchCommits,
  evaluatePullWithMalformedCommits,
  evaluateInWorker,
} from '../../evaluate/evaluate-in-worker.ts'
import { republishMergedPullReport, isPullMergedByBot } from '../../jobs/merged-report.ts'
import { type JobContext, requeuePull, isBranchManagedByBot } from '../../jobs/job-context.ts'
import {
  recordPullClosedOrMerged,
  recordEvaluation,
  recordPullOnUnmanagedBranch,
  cacheEvaluation,
  toVerdictRecord,
  publishEvaluation,
  requestReviews,
} from '../../evaluate/publish-evaluation.ts'
import type { PullEvaluation } from '../../evaluate/pull-evaluation.ts'
import { requestPreview } from '../../publish/preview.ts'
import { requestClusterTest } from '../../cluster-test/request-cluster-test.ts'
import { formatStatusPageUrl, resolveCommentDelaySeconds } from '../../jobs/publish-report.ts'
import {
  createMergeRecoveryOptions,
  isPullBeingPushed,
  recoverMergesOfPull,
} from '../../merge/recover-merges.ts'
import type { Forge, BotCommentAndCheckRuns, PullSize } from '../../ports/forge.ts'
import type { JobSlot } from '../../jobs/job-scheduler.ts'

/** Seconds until inconsistent data is read again. */
const inconsistentReadRetrySeconds = 2
/** Seconds until a pull request that a process is pushing is read; that process enqueues the job sooner. */
const pendingPushRetrySeconds = 10
/** Seconds until an unclear merge is checked again; GitHub abandons its own merge within this time. */
const unknownMergeOutcomeRetrySeconds = 30
/** Restarts within one job after commands took effect, before it returns to the queue. */
const maxEvaluationRestarts = 5

export async function evaluatePull(job: JobOfKind<'pull'>, ctx: JobContext<Store>): Promise<void> {
  // GitHub's delivery of a merge arrives before the push has been verified.
  if (await isPullBeingPushed(job.repository, job.pull, createMergeRecoveryOptions(ctx)))
    return ctx.app.store.enqueue(job, pendingPushRetrySeconds)
  const slot = ctx.app.scheduler.startJob()
  try {
    await evaluatePullInJobSlot(job, ctx, slot)
  } finally {
    slot.end()
  }
}

async function evaluatePullInJobSlot(
  job: JobOfKind<'pull'>,
  ctx: JobContext<Store>,
  slot: JobSlot,
): Promise<void> {
  const { store } = ctx.app
  triggerCrashPoint('job-taken')
  for (let attempt = 0; attempt < maxEvaluationRestarts; attempt++) {
    const answers = new Map<string, LookupResult>()
    const evaluated = await readSnapshotAndEvaluatePull(job.pull, ctx, slot, answers)
    if (evaluated === undefined) return
    const { evaluation, present } = evaluated
    const { snapshot, verdict } = evaluation
    triggerCrashPoint('snapshot-read')
    await store.recordVerdict(toVerdictRecord(evaluation, ctx.app.clock.now()))
    await recordEvaluation(evaluation, ctx)
    ctx.app.metrics.verdicts.inc({ kind: verdict.kind })
    triggerCrashPoint('verdict-recorded')
    if (!(await executeCommentCommands(evaluation, ctx))) continue
    await slot.yieldToLightJobs()
    const isFirst = present !== undefined && present.comment === undefined
    const readyDelaySeconds =
      verdict.permit === undefined
        ? 0
        : await resolveCommentDelaySeconds(snapshot, ctx, isFirst ? 'first' : 'edit')
    await publishEvaluation(evaluation, ctx, { present, isRestLater: readyDelaySeconds > 0 })
    triggerCrashPoint('report-published')
    // Another process might have merged and reported it since then, so this report would be outdated.
    if (await isPullMergedByBot(snapshot, ctx)) {
      await republishMergedPullReport(job.pull, ctx)
      return
    }
    await requestReviews(verdict, snapshot, ctx)
    await requestPreview(evaluation, ctx)
    await requestClusterTest(evaluation, ctx)
    if (evaluation.requeueAfterSeconds !== undefined) await store.enqueue(job, evaluation.requeueAfterSeconds)
    if (verdict.permit === undefined) {
      await store.dropReady(job.repository, [job.pull])
      await cacheEvaluation(evaluation, answers, ctx)
      if (verdict.kind !== 'unknown') await removePullFromMergeQueue(job.pull, ctx)
      if (!(await recoverMergesOfPull(job.repository, job.pull, createMergeRecoveryOptions(ctx))))
        await store.enqueue(job, unknownMergeOutcomeRetrySeconds)
      return
    }

    // Enqueued before the merge can start, because the merge reschedules this job.
    if (readyDelaySeconds > 0) await store.enqueue(job, readyDelaySeconds)
    // If the branch moves, the batch evaluates it again on the new tip.
    ctx.app.readyEvaluations.add(evaluation)
    await store.putReady(snapshot)
    await store.enqueue({
      kind: 'train',
      installation: job.installation,
      repository: job.repository,
      branch: snapshot.baseRef,
    })
    return
  }
  await store.enqueue(job, inconsistentReadRetrySeconds)
}

interface EvaluationWithBotReports {
  readonly evaluation: PullEvaluation
  /** Our comment and check runs when the pull request was read; absent if not read. */
  readonly present: BotCommentAndCheckRuns | undefined
}

/** Returns undefined if the pull request doesn't exist or is closed. */
async function readSnapshotAndEvaluatePull(
  pull: PullNumber,
  ctx: JobContext<Store>,
  slot: JobSlot,
  answers: Map<string, LookupResult>,
): Promise<EvaluationWithBotReports | undefined> {
  const { forge, app } = ctx
  app.evaluationPool.prepare?.(forge.repository)
  let size: PullSize | undefined
  let present: BotCommentAndCheckRuns | undefined
  const snapshot = await forge.readSnapshot(pull, {
    onCounts: async ({ author, size: counted }) => {
      size = counted
      const isSmall = app.evaluationPool.isSmall({ repository: forge.repository, pull, author }, size)
      slot.setCost(isSmall ? 'light' : 'heavy', toRepositoryAuthorKey(author, forge))
      await slot.yieldToLightJobs()
    },
    onOwnReports: (read) => void (present = read),
  })
  if (snapshot === null) {
    // For a moment, GitHub may not find a pull request that it lists. The sweep has already enqueued it.
    if ((await forge.openPulls()).some((open) => open.pull === pull))
      await requeuePull(pull, ctx, inconsistentReadRetrySeconds)
    else await recordPullClosedOrMerged({ repository: forge.repository, pull }, 'closed', ctx)
    return undefined
  }
  if (snapshot.state !== 'open') {
    await handleClosedPull(snapshot, ctx, present)
    return undefined
  }
  if (!(await isBranchManagedByBot(snapshot.baseRef, ctx, { allowCached: true }))) {
    await recordPullOnUnmanagedBranch(snapshot, app.store)
    // The base may have changed since the merge began; the outcome is reported on the pull request wherever it is now.
    if (!(await recoverMergesOfPull(forge.repository, pull, createMergeRecoveryOptions(ctx))))
      await requeuePull(pull, ctx, unknownMergeOutcomeRetrySeconds)
    if (await isPullMergedByBot(snapshot, ctx)) await republishMergedPullReport(pull, ctx, { present })
    else await reportPullOnUnmanagedBranch(snapshot, ctx, present)
    return undefined
  }
  // GitHub notices a pushed merge a moment later. Until then, the pull request must not be evaluated against itself.
  if (await isPullMergedByBot(snapshot, ctx)) {
    await republishMergedPullReport(pull, ctx, { present })
    triggerCrashPoint('landing-reported')
    return undefined
  }
  return fetchCommitsAndEvaluatePull(snapshot, { size, present }, ctx, slot, answers)
}

async function fetchCommitsAndEvaluatePull(
  snapshot: PullSnapshot,
  {
    size,
    present,
  }: { readonly size: PullSize | undefined; readonly present: BotCommentAndCheckRuns | undefined },
  ctx: JobContext<Store>,
  slot: JobSlot,
  answers: Map<string, LookupResult>,
): Promise<EvaluationWithBotReports | undefined> {
  const { forge, app } = ctx
  const { pull } = snapshot
  await slot.yieldToLightJobs()
  const fetchResult = await fetchCommits(snapshot, ctx)
  if (fetchResult.kind === 'malformed')
    return { evaluation: await evaluatePullWithMalformedCommits(snapshot, fetchResult.why, ctx), present }
  if (fetchResult.kind === 'stale') {
    await requeuePull(pull, ctx, inconsistentReadRetrySeconds)
    return undefined
  }
  const fetched = fetchResult.snapshot
  // It was read again because git was newer, and may have been merged or closed since then.
  if (fetched.state !== 'open') {
    await handleClosedPull(fetched, ctx)
    return undefined
  }
  await slot.yieldToLightJobs()
  const started = performance.now()
  const hints: EvaluationSchedulingHints = {
    size,
    onLong: () => slot.setCost('heavy', toRepositoryAuthorKey(fetched.author, forge)),
  }
  const onAnswer = (question: LookupRequest, answer: LookupResult) =>
    void answers.set(toLookupKey(question), answer)
  const evaluation = await evaluateInWorker(fetched, ctx, hints, { onAnswer })
  if (evaluation.verdict.reasons.some(({ code }) => code === 'nothing-to-merge')) {
    const becomes = await resolveOpenPullWithMergedHead(fetched, ctx)
    if (becomes === 'merged') await republishMergedPullReport(pull, ctx, { present })
    if (becomes === 'wait') await requeuePull(pull, ctx, inconsistentReadRetrySeconds)
    if (becomes !== 'open') return undefined
  }
  const examined = Math.round(performance.now() - started)
  app.log.info(
    {
      pull,
      repository: forge.repository,
      examined,
      verdict: evaluation.verdict.kind,
      page: formatStatusPageUrl(app.settings, forge.repository, pull),
    },
    'examined',
  )
  return { evaluation, present }
}

/** Pull requests of one author in one repository wait for one another. */
function toRepositoryAuthorKey(author: PullSnapshot['author'], { repository }: Forge): string {
  return `${toRepositoryKey(repository)} ${author?.id ?? 'nobody'}`
}

/** GitHub's merge queue would merge it without another check by catalog-bot. */
async function removePullFromMergeQueue(
  pull: PullNumber,
  { app, forge, merging }: JobContext<Store>,
): Promise<void> {
  const open = await app.store.listPendingMerges(forge.repository)
  if (open.some((intent) => intent.pull === pull && intent.method?.kind === 'queue'))
    await merging.dequeue(pull)
}
