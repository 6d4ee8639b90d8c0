import type { SettleOptions } from '../../landing/landing-options.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { judgeMerged } from './judge-merged.ts'
import { reportMismatch } from './report-mismatch.ts'

export function settleOptions(place: JobContext<Store>): SettleOptions & { readonly leaseSeconds: number } {
  const { repository, merging, app } = place
  const { store, clock } = app
  return {
    repository,
    merging,
    store,
    clock,
    leaseSeconds: app.settings.leaseSeconds,
    judgeMerged: (intent, base, commit) => judgeMerged(intent, base, commit, place),
    onMismatch: (mismatch) => reportMismatch(mismatch, place),
    onEnded: (outcome) => app.metrics.landings.inc({ outcome }),
  }
}
