import type { PullNumber } from '../../change/ids.ts'
import type { Jobs } from '../../ports/jobs.ts'
import type { JobContext } from './job-context.ts'

/** Immediately, or after the given seconds. Rejects with a StoreError. */
export async function lookAgain(
  pull: PullNumber,
  { app, installation, forge: { repository } }: JobContext<Jobs>,
  afterSeconds?: number,
): Promise<void> {
  await app.store.enqueue({ kind: 'pull', installation, repository, pull }, afterSeconds)
}
