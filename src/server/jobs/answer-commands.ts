import type { JobQueue } from '../../ports/jobs.ts'
import type { MergeFreezeStore } from '../../ports/merge-freezes.ts'
import type { PullHistoryStore } from '../../ports/pull-memory.ts'
import type { StateStore } from '../../ports/state.ts'
import type { JobContext } from '../../jobs/job-context.ts'
import type { PullEvaluation } from '../../evaluate/evaluate-snapshot.ts'
import { executeRollback } from '../../publish/rollback-command.ts'
import { executeFreezeCommand } from '../../merge/manage-freezes.ts'

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
    await forge.perform({ kind: 'react', comment: record.comment, reaction })
  }
  return !changesStops
}
