import type { Snapshot } from '../../change/snapshot.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'

export async function isLanded(
  { repository, pull, head }: Snapshot,
  { app: { store } }: JobContext<Pick<Store, 'landingOf'>>,
): Promise<boolean> {
  return (await store.landingOf(repository, pull))?.head === head
}
