// Handles GitHub's rejections: parks the pull request or freezes its branch, and retries later.
import { z } from 'zod'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { type PullSnapshot, toRepositoryKey } from '../pull-request/snapshot.ts'
import { computeMergeRejectionBackOffMs, type MergeFreeze } from '../policy/merge-freeze.ts'
import type { MergeRejection } from './classify-rejection.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { StatusPageStore } from '../ports/status-page-store.ts'
import { readBranchRulesDigest, readMergeRejectionInputsDigest } from '../evaluate/merge-plan-input.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Milliseconds in which GitHub may catch up; reports still missing then are not waited for. */
const initialMergeRetryDelayMs = 5000
const maxInitialMergeRetryDelayMs = 120_000

/** GitHub also rejects merges by mistake, for a moment, so the first retry is soon if the rejection can be such a mistake. */
const computeMergeRetryDelayMs = (times: number, isPossibleMistake: boolean): number =>
  times === 1 && isPossibleMistake ? initialMergeRetryDelayMs : computeMergeRejectionBackOffMs(times)

/** A commit status or check run that passed, from a delivery. */
export interface PassingCommitStatus {
  readonly repository: { readonly name: string; readonly owner: { readonly login: string } }
  readonly installation: { readonly id: number }
  readonly commit: CommitSha
  readonly context: string
}

const unknownMergeRejectionSchema = z.object({ text: z.string(), pull: z.number() })
/**
 * The last unknown rejection text since a merge on the branch, and its pull request. If lost, the next rejection counts
 * as the first.
 */
const unknownMergeRejectionCache = defineCacheNamespace('unknown refusal', 1, unknownMergeRejectionSchema)
const unknownMergeRejectionTtlSeconds = 3600

/** Whether another pull request got the same unknown text on this branch, ignoring numbers and commits. */
async function isRejectionSharedByOtherPull(
  { repository, pull, baseRef }: PullSnapshot,
  { reason }: MergeRejection,
  { app: { store } }: JobContext<Cache>,
): Promise<boolean> {
  const text = reason.replace(/\b(?:[0-9a-f]{7,64}|\d+)\b/g, '#')
  const key = `${toRepositoryKey(repository)} ${baseRef}`
  const first = (await store.getCached(unknownMergeRejectionCache, [key])).get(key)
  if (first?.text === text && first.pull !== pull) return true
  await store.putCached(
    unknownMergeRejectionCache,
    new Map([[key, { text, pull }]]),
    unknownMergeRejectionTtlSeconds,
  )
  return false
}

/**
 * Parks the pull request or freezes its branch. An unknown text parks the pull request. If a second one gets the same
 * text, the branch is frozen, too, and the pull request waits longer, so that catalog-bot tries another one first.
 */
export async function handleMergeRejection(
  snapshot: PullSnapshot,
  rejection: MergeRejection,
  ctx: JobContext<MergeFreezeStore & Cache>,
): Promise<void> {
  const isShared = !rejection.isKnown && (await isRejectionSharedByOtherPull(snapshot, rejection, ctx))
  const scopedRejection: MergeRejection = isShared ? { ...rejection, scope: 'branch' } : rejection
  const { store, clock, log } = ctx.app
  const { repository, pull, baseRef } = snapshot
  const now = clock.now()
  log.warn({ repository, pull, branch: baseRef, ...scopedRejection }, 'GitHub rejected a merge')
  if (scopedRejection.scope === 'pull' || !scopedRejection.isKnown) {
    const state = await readMergeRejectionInputsDigest(snapshot, scopedRejection.reason, ctx)
    const before = await store.parkedPull(repository, pull)
    const times = before?.state === state ? before.times + 1 : 1
    const wait = Math.min(
      computeMergeRetryDelayMs(times, rejection.retrySoon || (!rejection.isKnown && !isShared)),
      rejection.retrySoon ? maxInitialMergeRetryDelayMs : Infinity,
    )
    await store.parkPull(repository, {
      pull,
      reason: scopedRejection.reason,
      state,
      times,
      tryAgainAt: now + (scopedRejection.scope === 'branch' ? 2 * wait : wait),
    })
  }
  if (scopedRejection.scope === 'branch') {
    const before = (await store.listFreezes(repository)).find(
      ({ kind, branch }) => kind === 'refused' && branch === baseRef,
    )
    await store.freezeMerges({
      repository,
      branch: baseRef,
      kind: 'refused',
      reason: scopedRejection.reason,
      by: { kind: 'bot' },
      pull,
      tryAgainAt: now + computeMergeRetryDelayMs((before?.times ?? 0) + 1, rejection.retrySoon),
      rules: await readBranchRulesDigest(baseRef, ctx),
    })
  }
}

/**
 * Finds rejected pull requests that a report on their head may unblock. If GitHub named a single missing check, only
 * that one counts.
 */
export async function findPullsWaitingForCommitStatus(
  { repository: { owner, name }, commit, context }: PassingCommitStatus,
  store: MergeFreezeStore & Pick<StatusPageStore, 'findPullRecord'>,
): Promise<readonly PullNumber[]> {
  const repository = { owner: owner.login, name }
  const waiting: PullNumber[] = []
  for (const pull of await store.parkedPulls(repository)) {
    const row = await store.findPullRecord(repository, pull)
    if (row?.state !== 'open' || row.head !== commit) continue
    const { reason = '' } = (await store.parkedPull(repository, pull)) ?? {}
    const named = [...reason.matchAll(/Required status check "(.+?)" (?:is|has|was)\b/g)].map((it) => it[1])
    if (named.length === 0 || named.includes(context)) waiting.push(pull)
  }
  return waiting
}

/** Clears rejections after pull requests of one branch were merged. */
export async function clearMergeRejections(
  merged: readonly PullSnapshot[],
  { app: { store } }: JobContext<MergeFreezeStore & Cache>,
): Promise<void> {
  for (const { repository, pull } of merged) await store.unparkPull(repository, pull)
  const [first] = merged
  if (first === undefined) return
  const { repository, pull, baseRef } = first
  const none = new Map([[`${toRepositoryKey(repository)} ${baseRef}`, { text: '', pull }]])
  await store.putCached(unknownMergeRejectionCache, none, 1)
  await store.unfreezeMerges({
    repository,
    branch: baseRef,
    kinds: ['refused'],
    by: { kind: 'bot' },
    reason: `pull request ${pull} was merged`,
  })
}

/**
 * Reads the rules of rejecting branches and of `others` again, and allows one merge at once if they changed. Errors
 * change nothing, because the retry time still passes.
 */
export async function retryBranchesWithChangedRules(
  stops: readonly MergeFreeze[],
  others: readonly string[],
  ctx: JobContext<MergeFreezeStore & Cache>,
): Promise<void> {
  const rejectedBranches = stops.filter(({ kind, branch, rules }) => kind === 'refused' && branch && rules)
  for (const name of new Set([...rejectedBranches.flatMap(({ branch }) => branch ?? []), ...others])) {
    const now = await readBranchRulesDigest(name, ctx, { fresh: true })
    if (now === undefined) continue
    for (const { repository, branch, rules } of rejectedBranches)
      if (branch === name && rules !== now) await ctx.app.store.allowMergeAttempt({ repository, branch })
  }
}

/**
 * Reads the branch's rules again after a rejection. Returns true if they differ from those the merge was planned with,
 * so that another method may work.
 */
export async function haveBranchRulesChanged(branch: string, ctx: JobContext<Cache>): Promise<boolean> {
  const before = await readBranchRulesDigest(branch, ctx)
  const now = await readBranchRulesDigest(branch, ctx, { fresh: true })
  return before !== undefined && now !== undefined && before !== now
}
