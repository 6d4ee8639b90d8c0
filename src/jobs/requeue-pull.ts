import type { PullNumber } from '../pull-request/ids.ts'
import type { JobQueue } from '../ports/jobs.ts'
import type { JobContext } from './job-context.ts'

/** Immediately, or after the given seconds. Rejects with a StoreError. */
export async function requeuePull(
  pull: PullNumber,
  { app, installation, forge: { repository } }: JobContext<JobQueue>,
  afterSeconds?: number,
): Promise<void> {
  await app.store.enqueue({ kind: 'pull', installation, repository, pull }, afterSeconds)
}
