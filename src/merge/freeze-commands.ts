// Handles /freeze and /thaw. They affect a branch, so all pull requests are evaluated afterwards.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { JobQueue } from '../ports/jobs.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Returns whether a freeze began or ended. Idempotent by comment id. */
export async function executeFreezeCommand(
  { command, outcome, stop, login, user, comment }: CommandRecord,
  { repository, pull, comments }: PullSnapshot,
  { app, installation }: JobContext<MergeFreezeStore & JobQueue>,
): Promise<boolean> {
  if (outcome !== 'done' || stop === undefined) return false
  const { branch, reason, kinds } = stop
  const by = { kind: 'person', login, user, comment } as const
  if (command === 'freeze') {
    const started = await app.store.freezeMerges({ repository, branch, kind: 'frozen', reason, by, pull })
    if (started === undefined) return false
  } else {
    const commandedAt = Date.parse(comments.find(({ id }) => id === comment)?.createdAt ?? '')
    const ended = await app.store.unfreezeMerges({
      repository,
      branch,
      kinds,
      by,
      reason,
      requestedAt: commandedAt,
    })
    if (ended.length === 0) return false
  }
  app.log.info({ repository, branch, command, login }, 'a maintainer changed a merge freeze')
  await app.store.enqueue({ kind: 'sweep', installation, repository })
  return true
}
