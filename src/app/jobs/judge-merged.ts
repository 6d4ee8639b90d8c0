// Judges a pull request that GitHub merged onto a different base than the validated one. GitHub's merge does not pin
// the base, so a push can come in between. The real base's configuration and owners apply.
import type { CommitSha } from '../../change/ids.ts'
import type { Landing } from '../../gate/merge-permit.ts'
import { GitError } from '../../git/git-error.ts'
import { ForgeError } from '../../github/forge-error.ts'
import type { MergedVerdict } from '../../gate/verdict.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'
import { lookAtPull } from './look-at-pull.ts'
import { recordOf } from './show-look.ts'

/** Seconds between attempts to judge a commit. */
const retrySeconds = 30
/** If lost, the commit is judged again sooner. */
const inconclusive = defineCache<readonly string[]>('merged commit not judged', {
  version: 1,
  read: (stored) => (Array.isArray(stored) ? stored.map(String) : undefined),
})

/** `base` is the real parent of `commit`. Rejects with a StoreError. */
export async function judgeMerged(
  landing: Pick<Landing, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  commit: CommitSha,
  place: JobContext<Store>,
): Promise<MergedVerdict> {
  const { store, log } = place.app
  const before = (await store.getCached(inconclusive, [commit])).get(commit)
  if (before !== undefined) return { kind: 'unknown', reasons: before }
  const verdict = await judge(landing, base, place).catch((error: unknown): MergedVerdict => {
    if (!(error instanceof ForgeError || error instanceof GitError)) throw error
    return { kind: 'unknown', reasons: [error.message] }
  })
  log.warn({ pull: landing.pull, base, commit, ...verdict }, 'GitHub merged on another base')
  if (verdict.kind === 'unknown')
    await store.putCached(inconclusive, new Map([[commit, verdict.reasons]]), retrySeconds)
  return verdict
}

async function judge(
  { pull, baseRef, head }: Pick<Landing, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  place: JobContext<Store>,
): Promise<MergedVerdict> {
  const { app, forge, repository } = place
  const snapshot = await forge.readSnapshot(pull, { anew: true })
  if (snapshot === null || snapshot.head !== head || snapshot.baseRef !== baseRef)
    return { kind: 'invalid', reasons: ['the pull request is not what was merged'] }
  await repository.fetch(baseRef, pull)
  const seen = await lookAtPull({ ...snapshot, state: 'open', base }, place, undefined, { isMerged: true })
  await app.store.recordVerdict(recordOf(seen, app.clock.now()))
  const { kind, reasons } = seen.verdict
  if (kind === 'merge') return { kind: 'valid' }
  return { kind: kind === 'unknown' ? 'unknown' : 'invalid', reasons: reasons.map(({ text }) => text) }
}
