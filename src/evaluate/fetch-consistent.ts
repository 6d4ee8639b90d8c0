import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Fetches the snapshot's commits. If git and GitHub's API disagree, the snapshot is stale. */
export async function fetchConsistentSnapshot(
  snapshot: PullSnapshot,
  { repository, forge }: JobContext,
): Promise<PullSnapshot | undefined> {
  let current: PullSnapshot | null = snapshot
  for (let attempt = 0; attempt < 3 && current !== null; attempt++) {
    await repository.fetch(current.baseRef, current.pull)
    const tip = await repository.tip(current.baseRef)
    const head = await repository.pullHead(current.pull)
    if (tip === current.base && head === current.head) return current
    current = await forge.readSnapshot(current.pull)
  }
  return undefined
}
