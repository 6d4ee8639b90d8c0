// Recovers a merge that a crashed process left unfinished.
import type { PullNumber } from '../../change/ids.ts'
import { settleLeft } from '../../landing/settle-left.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { settleOptions } from './settle-options.ts'

/** Returns false while the outcome is unknown. Rejects with a GitError, ForgeError or StoreError. */
export function settleBegun(pull: PullNumber, place: JobContext<Store>): Promise<boolean> {
  return settleLeft(place.forge.repository, pull, settleOptions(place))
}
