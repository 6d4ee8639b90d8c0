// Judges a pull request that GitHub merged onto a different base than the validated one. GitHub's merge does not pin
// the base, so a push can come in between. The real base's configuration and owners apply.
import type { CommitSha } from '../pull-request/ids.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import { GitError } from '../adapters/git/git-error.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import type { MergedCommitVerdict } from '../policy/verdict.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { evaluateSnapshot } from '../evaluate/evaluate-snapshot.ts'
import { toVerdictRecord } from '../evaluate/publish-evaluation.ts'

/** Seconds between attempts to judge a commit. */
const auditRetrySeconds = 30
/** If lost, the commit is judged again sooner. */
const inconclusiveAuditCache = defineCacheNamespace<readonly string[]>('merged commit not judged', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? stored.map(String) : undefined),
})

/** `base` is the real parent of `commit`. Rejects with a StoreError. */
export async function auditMerge(
  mergedPull: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  commit: CommitSha,
  ctx: JobContext<Store>,
): Promise<MergedCommitVerdict> {
  const { store, log } = ctx.app
  const before = (await store.getCached(inconclusiveAuditCache, [commit])).get(commit)
  if (before !== undefined) return { kind: 'unknown', reasons: before }
  const verdict = await evaluateMergedPull(mergedPull, base, ctx).catch(
    (error: unknown): MergedCommitVerdict => {
      if (!(error instanceof ForgeError || error instanceof GitError)) throw error
      return { kind: 'unknown', reasons: [error.message] }
    },
  )
  log.warn(
    { pull: mergedPull.pull, base, commit, ...verdict },
    'GitHub merged a pull request onto a different base than catalog-bot checked',
  )
  if (verdict.kind === 'unknown')
    await store.putCached(inconclusiveAuditCache, new Map([[commit, verdict.reasons]]), auditRetrySeconds)
  return verdict
}

async function evaluateMergedPull(
  { pull, baseRef, head }: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  ctx: JobContext<Store>,
): Promise<MergedCommitVerdict> {
  const { app, forge, repository } = ctx
  const snapshot = await forge.readSnapshot(pull, { skipCache: true })
  if (snapshot === null || snapshot.head !== head || snapshot.baseRef !== baseRef)
    return { kind: 'invalid', reasons: ['the pull request no longer matches the merged commit'] }
  await repository.fetch(baseRef, pull)
  const evaluation = await evaluateSnapshot({ ...snapshot, state: 'open', base }, ctx, undefined, {
    isMerged: true,
  })
  await app.store.recordVerdict(toVerdictRecord(evaluation, app.clock.now()))
  const { kind, reasons } = evaluation.verdict
  if (kind === 'merge') return { kind: 'valid' }
  return { kind: kind === 'unknown' ? 'unknown' : 'invalid', reasons: reasons.map(({ text }) => text) }
}
