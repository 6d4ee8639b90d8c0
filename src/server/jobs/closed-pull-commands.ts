// Handles /rollback on merged or closed pull requests. Old comments are ignored because the catalog has changed since.
import { parseComment } from '../../pull-request/command.ts'
import type { PullComment, PullSnapshot } from '../../pull-request/snapshot.ts'
import type { CommandRecord } from '../../policy/commands.ts'
import { ForgeError } from '../../adapters/github/forge-error.ts'
import { toCodeSpan, escapeMarkdown } from '../../report/escape.ts'
import type { Cache } from '../../ports/cache.ts'
import type { JobQueue } from '../../ports/jobs.ts'
import type { MergeFreezes } from '../../ports/merge-freezes.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { StateStore } from '../../ports/state.ts'
import { answerCommentCommands } from './answer-commands.ts'
import { fetchConsistentSnapshot } from '../../evaluate/fetch-consistent.ts'
import { isServedBranch } from '../../jobs/is-served-branch.ts'
import type { JobContext } from '../../jobs/job-context.ts'
import { requeuePull } from '../../jobs/requeue-pull.ts'
import { evaluateSnapshot } from '../../evaluate/evaluate-snapshot.ts'

/** Milliseconds; covers late deliveries. */
const maxCommandAgeMs = 3600_000
/** Seconds until an undecided command is retried. */
const undecidedCommandRetrySeconds = 60

type ClosedPullCommandContext = JobContext<
  Required<PullMemory> & MergeFreezes & Cache & JobQueue & StateStore
>

/** Rejects with a ForgeError, GitError or StoreError. */
export async function executeClosedPullCommands(
  closed: PullSnapshot,
  ctx: ClosedPullCommandContext,
): Promise<void> {
  const { app } = ctx
  const { store } = app
  const known = await store.commands(closed.repository, closed.pull)
  const onRecord = new Set(known.map(({ comment }) => comment))
  const now = app.clock.now()
  const pendingRollbacks = (comments: readonly PullComment[]) =>
    findRecentRollbacks(comments, now).filter(({ id }) => !onRecord.has(id))
  if (
    pendingRollbacks(closed.comments).length === 0 ||
    !(await isServedBranch(closed.baseRef, ctx, { allowCached: true }))
  )
    return
  const snapshot = await fetchConsistentSnapshot(closed, ctx)
  // Reopened: its own job evaluates the whole pull request.
  if (snapshot !== undefined && snapshot.state !== 'open') {
    const comments = pendingRollbacks(snapshot.comments)
    const { commands } = await evaluateSnapshot({ ...snapshot, comments }, ctx)
    await answerCommentCommands({ snapshot, commands }, ctx)
    for (const record of await store.commands(snapshot.repository, snapshot.pull))
      if (!onRecord.has(record.comment)) await reportUnclearRollback(record, snapshot, ctx)
    if (commands.length === comments.length) return
  }
  await requeuePull(closed.pull, ctx, undecidedCommandRetrySeconds)
}

/** An open pull request reports this in its own comment; a merged one's comment is about the merge. */
async function reportUnclearRollback(
  { comment, outcome, rollback }: CommandRecord,
  { pull }: PullSnapshot,
  { app, forge }: ClosedPullCommandContext,
): Promise<void> {
  if (outcome !== 'unclear' || rollback?.why === undefined) return
  const quotedCommand = toCodeSpan(`/rollback ${rollback.words}`.trim(), 120)
  const marker = `<!-- catalog-bot:rollback ${comment} unclear -->`
  const body = `${quotedCommand} failed: ${escapeMarkdown(rollback.why)}.`
  try {
    await forge.perform({ kind: 'say-on-issue', issue: pull, marker, body })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, pull }, 'GitHub rejected the reply to /rollback')
  }
}

/** Unedited comments by people, within the time limit. */
export function findRecentRollbacks(comments: readonly PullComment[], now: number): readonly PullComment[] {
  return comments.filter(({ author, body, createdAt, updatedAt }) => {
    if (author === null || author.kind === 'bot' || createdAt !== updatedAt) return false
    if (!(now - Date.parse(createdAt) <= maxCommandAgeMs)) return false
    const parsed = parseComment(body)
    return parsed.kind === 'command' && parsed.command.name === 'rollback'
  })
}
