// Handles /freeze and /thaw. They affect a branch, so all pull requests are evaluated afterwards.
import type { Snapshot } from '../../change/snapshot.ts'
import type { CommandRecord } from '../../gate/commands.ts'
import type { Jobs } from '../../ports/jobs.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { JobContext } from './job-context.ts'

/** Returns whether a freeze began or ended. Idempotent by comment id. */
export async function obeyStopCommand(
  { command, outcome, stop, login, user, comment }: CommandRecord,
  { repository, pull, comments }: Snapshot,
  { app, installation }: JobContext<LandingStops & Jobs>,
): Promise<boolean> {
  if (outcome !== 'done' || stop === undefined) return false
  const { branch, reason, kinds } = stop
  const by = { kind: 'person', login, user, comment } as const
  if (command === 'freeze') {
    const begun = await app.store.stopLandings({ repository, branch, kind: 'frozen', reason, by, pull })
    if (begun === undefined) return false
  } else {
    const saidAt = Date.parse(comments.find(({ id }) => id === comment)?.createdAt ?? '')
    const ended = await app.store.resumeLandings({ repository, branch, kinds, by, reason, saidAt })
    if (ended.length === 0) return false
  }
  app.log.info({ repository, branch, command, login }, 'a maintainer changed where merging is stopped')
  await app.store.enqueue({ kind: 'sweep', installation, repository })
  return true
}
