import type { Jobs } from '../../ports/jobs.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import type { JobContext } from './job-context.ts'
import type { Seen } from './look-at-pull.ts'
import { obeyRollback } from './publish/rollback-command.ts'
import { obeyStopCommand } from './stop-commands.ts'

/**
 * Records each command before it takes effect, then answers it. Returns false if the decision must be made again:
 * another instance was faster, or a merge freeze began or ended.
 */
export async function answerCommands(
  { snapshot, commands }: Pick<Seen, 'snapshot' | 'commands'>,
  place: JobContext<PullMemory & LandingStops & Jobs & State>,
): Promise<boolean> {
  const { app, forge } = place
  let changesStops = false
  for (const decision of commands) {
    const { record, reaction } = await obeyRollback(decision, snapshot, place)
    if (record !== decision.record) changesStops = true
    // Runs before the command is recorded: it is idempotent by comment id, so a crash in between is retried.
    if (await obeyStopCommand(record, snapshot, place)) changesStops = true
    if ((await app.store.recordCommand(snapshot.repository, snapshot.pull, record)) === 'duplicate')
      return false
    await forge.perform({ kind: 'react', comment: record.comment, reaction })
  }
  return !changesStops
}
