import type { RecoverOptions } from './merge-options.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { auditMerge } from './audit-merge.ts'
import { reportTreeMismatch } from './post-merge-audit.ts'

export function createMergeRecoveryOptions(
  ctx: JobContext<Store>,
): RecoverOptions & { readonly leaseSeconds: number } {
  const { repository, merging, app } = ctx
  const { store, clock } = app
  return {
    repository,
    merging,
    store,
    clock,
    leaseSeconds: app.settings.leaseSeconds,
    judgeMerged: (intent, base, commit) => auditMerge(intent, base, commit, ctx),
    onMismatch: (mismatch) => reportTreeMismatch(mismatch, ctx),
    onEnded: (outcome) => app.metrics.landings.inc({ outcome }),
  }
}
