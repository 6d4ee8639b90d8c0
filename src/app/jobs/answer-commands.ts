// Carries out what was decided about the commands in a pull request's comments.
import type { Jobs } from '../../ports/jobs.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import type { JobContext } from './job-context.ts'
import type { Seen } from './look-at-pull.ts'
import { obeyRollback } from './publish/rollback-command.ts'
import { obeyStopCommand } from './stop-commands.ts'

/**
 * Records each command before it has any effect on this pull request, then answers it. False when the decision is to be
 * made anew: another instance was faster, so that it rests on less than is on record, or merging was stopped or allowed.
 */
export async function answerCommands(
  { snapshot, commands }: Pick<Seen, 'snapshot' | 'commands'>,
  place: JobContext<PullMemory & LandingStops & Jobs & State>,
): Promise<boolean> {
  const { app, forge } = place
  let changesStops = false
  for (const decision of commands) {
    const { record, reaction } = await obeyRollback(decision, snapshot, place)
    // What was understood of it is said with the next look.
    if (record !== decision.record) changesStops = true
    // Before it is on record: it works once by its comment's id, and a process that dies in between comes back to it.
    if (await obeyStopCommand(record, snapshot, place)) changesStops = true
    if ((await app.store.recordCommand(snapshot.repository, snapshot.pull, record)) === 'duplicate')
      return false
    await forge.perform({ kind: 'react', comment: record.comment, reaction })
  }
  return !changesStops
}
