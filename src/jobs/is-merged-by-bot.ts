import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from './job-context.ts'

export async function isMergedByBot(
  { repository, pull, head }: PullSnapshot,
  { app: { store } }: JobContext<Pick<Store, 'findMerge'>>,
): Promise<boolean> {
  return (await store.findMerge(repository, pull))?.head === head
}
