// Handles a closed pull request: settles and reports a merge by an earlier process.
import type { PullSnapshot, PullComment } from '../../pull-request/snapshot.ts'
import { triggerCrashPoint } from '../../jobs/crash-point.ts'
import { recoverMerge, createMergeRecoveryOptions, recoverMergesOfPull } from '../../merge/recover-merges.ts'
import type { BotCommentAndCheckRuns } from '../../ports/forge.ts'
import type { Store } from '../../ports/store.ts'
import { type JobContext, requeuePull, isBranchManagedByBot } from '../../jobs/job-context.ts'
import { cancelPreviews } from '../../publish/preview.ts'
import { recordPullClosedOrMerged } from '../../evaluate/publish-evaluation.ts'
import { reportPullMergedByOthers } from '../../merge/externally-merged-pulls.ts'
import { republishMergedPullReport, markMergeAnnounced } from '../../jobs/merged-report.ts'
import { cancelClusterTests } from '../../cluster-test/request-cluster-test.ts'
import { parseCommandFromComment } from '../../pull-request/command.ts'
import type { CommandRecord } from '../../policy/command-records.ts'
import { catchRejection } from '../../adapters/github/forge-error.ts'
import { toCodeSpan, escapeMarkdown } from '../../report/escape.ts'
import type { Cache } from '../../ports/cache.ts'
import type { JobQueue } from '../../ports/jobs.ts'
import type { MergeFreezeStore } from '../../ports/merge-records.ts'
import type { PullHistoryStore } from '../../ports/pull-history.ts'
import type { StateStore } from '../../ports/state.ts'
import { fetchConsistentPullSnapshot, evaluateInWorker } from '../../evaluate/evaluate-in-worker.ts'
import type { PullEvaluation } from '../../evaluate/pull-evaluation.ts'
import { executeRollback } from '../../publish/rollback-command.ts'
import { executeFreezeCommand } from '../../merge/manage-freezes.ts'

/** Milliseconds; covers late deliveries. */
const maxCommandAgeMs = 3600_000
const undecidedCommandRetrySeconds = 60

type ClosedPullCommandContext = JobContext<
  Required<PullHistoryStore> & MergeFreezeStore & Cache & JobQueue & StateStore
>

/** Seconds until retry while a merge on its branch is in progress. */
const pendingMergeRetrySeconds = 5

/** `present`: the App's comment and check runs when it was read. Rejects with a GitError, ForgeError or StoreError. */
export async function handleClosedPull(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
  present?: BotCommentAndCheckRuns,
): Promise<void> {
  await cleanUpClosedPull(snapshot, ctx, present)
  await executeClosedPullCommands(snapshot, ctx)
}

async function cleanUpClosedPull(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
  present: BotCommentAndCheckRuns | undefined,
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
  const isSettled = await recoverMergesOfPull(
    snapshot.repository,
    snapshot.pull,
    createMergeRecoveryOptions(ctx),
  )
  if (!isSettled) await requeuePull(snapshot.pull, ctx, pendingMergeRetrySeconds)
  if (snapshot.state === 'merged') await recoverAbandonedMerge(snapshot, ctx)
  const merge = await republishMergedPullReport(snapshot.pull, ctx, { present })
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
      (await isBranchManagedByBot(snapshot.baseRef, ctx, { allowCached: true }))
    )
      await reportPullMergedByOthers(snapshot, ctx, present)
    return
  }
  triggerCrashPoint('landing-reported')
  await markMergeAnnounced(snapshot.pull, merge.commit, ctx)
}

/** A push that was given up may still have arrived; the branch shows that. */
async function recoverAbandonedMerge(
  { repository, pull }: PullSnapshot,
  ctx: JobContext<Store>,
): Promise<void> {
  const { store } = ctx.app
  if ((await store.findMerge(repository, pull)) !== undefined) return
  for (const intent of await store.listAbandonedMerges(repository, pull)) {
    // catalog-bot or a user might have requested GitHub's merge.
    if (intent.method !== undefined && intent.method.kind !== 'push') continue
    if ((await recoverMerge(intent, createMergeRecoveryOptions(ctx))).kind === 'landed') return
  }
}

/** Rejects with a ForgeError, GitError or StoreError. */
async function executeClosedPullCommands(closed: PullSnapshot, ctx: ClosedPullCommandContext): Promise<void> {
  const { app } = ctx
  const { store } = app
  const known = await store.commands(closed.repository, closed.pull)
  const recordedComments = new Set(known.map(({ comment }) => comment))
  const now = app.clock.now()
  const pendingRollbacks = (comments: readonly PullComment[]) =>
    findRecentRollbacks(comments, now).filter(({ id }) => !recordedComments.has(id))
  if (
    pendingRollbacks(closed.comments).length === 0 ||
    !(await isBranchManagedByBot(closed.baseRef, ctx, { allowCached: true }))
  )
    return
  const snapshot = await fetchConsistentPullSnapshot(closed, ctx)
  // Reopened: its own job evaluates the entire pull request.
  if (snapshot !== undefined && snapshot.state !== 'open') {
    const comments = pendingRollbacks(snapshot.comments)
    const { commands } = await evaluateInWorker({ ...snapshot, comments }, ctx)
    await executeCommentCommands({ snapshot, commands }, ctx)
    for (const record of await store.commands(snapshot.repository, snapshot.pull))
      if (!recordedComments.has(record.comment)) await reportUnclearRollbackCommand(record, snapshot, ctx)
    if (commands.length === comments.length) return
  }
  await requeuePull(closed.pull, ctx, undecidedCommandRetrySeconds)
}

/** An open pull request reports this in its own comment; a merged one's comment is about the merge. */
async function reportUnclearRollbackCommand(
  { comment, outcome, rollback }: CommandRecord,
  { pull }: PullSnapshot,
  { app, forge }: ClosedPullCommandContext,
): Promise<void> {
  if (outcome !== 'unclear' || rollback?.why === undefined) return
  const quotedCommand = toCodeSpan(`/rollback ${rollback.words}`.trim(), 120)
  const marker = `<!-- catalog-bot:rollback ${comment} unclear -->`
  const body = `${quotedCommand} failed: ${escapeMarkdown(rollback.why)}.`
  await catchRejection(forge.perform({ kind: 'say-on-issue', issue: pull, marker, body }), (error) =>
    app.log.warn({ err: error, pull }, 'GitHub rejected the reply to /rollback'),
  )
}

/** Unedited comments by users, within the time limit. */
export function findRecentRollbacks(comments: readonly PullComment[], now: number): readonly PullComment[] {
  return comments.filter(({ author, body, createdAt, updatedAt }) => {
    if (author === null || author.kind === 'bot' || createdAt !== updatedAt) return false
    if (!(now - Date.parse(createdAt) <= maxCommandAgeMs)) return false
    const parsed = parseCommandFromComment(body)
    return parsed.kind === 'command' && parsed.command.name === 'rollback'
  })
}

/**
 * Records each command before it takes effect, then answers it. Returns false if the decision must be made again:
 * another instance was faster, or a merge freeze began or ended.
 */
export async function executeCommentCommands(
  { snapshot, commands }: Pick<PullEvaluation, 'snapshot' | 'commands'>,
  ctx: JobContext<PullHistoryStore & MergeFreezeStore & JobQueue & StateStore>,
): Promise<boolean> {
  const { app, forge } = ctx
  let changesStops = false
  for (const decision of commands) {
    const { record, reaction } = await executeRollback(decision, snapshot, ctx)
    if (record !== decision.record) changesStops = true
    // Runs before the command is recorded: it is idempotent by comment id, so a crash in between is retried.
    if (await executeFreezeCommand(record, snapshot, ctx)) changesStops = true
    if ((await app.store.recordCommand(snapshot.repository, snapshot.pull, record)) === 'duplicate')
      return false
    const { comment } = record
    // The comment may be deleted by now. The report answers the command, too.
    await catchRejection(forge.perform({ kind: 'react', comment, reaction }), (error) =>
      app.log.warn({ err: error, comment }, 'GitHub rejected the reaction to a command'),
    )
  }
  return !changesStops
}
