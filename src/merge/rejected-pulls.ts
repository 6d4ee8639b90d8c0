// Handles GitHub's rejections: parks a pull request or stops its branch, and retries both later.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { PullNumber } from '../../change/ids.ts'
import { toRepositoryKey } from '../../change/repository-key.ts'
import type { PullSnapshot } from '../../change/snapshot.ts'
import { computeRejectionBackOffMs, findActiveFreezes, type MergeFreeze } from '../../gate/merge-freeze.ts'
import type { MergeRejection } from '../../merge/classify-rejection.ts'
import { fetchBranchRules } from '../../evaluate/branch-rules-cache.ts'
import { defineCacheNamespace, type Cache } from '../../ports/cache.ts'
import type { MergeFreezes } from '../../ports/merge-freezes.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { PassingCommitStatus } from '../edge/jobs-of-delivery.ts'
import type { JobContext } from './job-context.ts'

/** Milliseconds in which GitHub may catch up; reports still missing then are not waited for. */
const firstMergeRetryDelayMs = 5000
const maxQuickRetryDelayMs = 120_000
const computeQuickRetryDelayMs = (wait: number, times: number): number =>
  times === 1 ? firstMergeRetryDelayMs : Math.min(wait, maxQuickRetryDelayMs)

export interface MergeBackoff {
  readonly stopped: readonly MergeFreeze[]
  readonly refused?: string
  /** Seconds until the first of them ends. */
  readonly tryAgainAfter?: number
}

/** Reasons other than checks that keep this pull request from merging. */
export async function readMergeBackoff(
  snapshot: PullSnapshot,
  ctx: JobContext<MergeFreezes & Cache>,
): Promise<MergeBackoff> {
  const { store, clock } = ctx.app
  const now = clock.now()
  const stopped = findActiveFreezes(await store.listFreezes(snapshot.repository), snapshot.baseRef, now)
  const parked = await store.parkedPull(snapshot.repository, snapshot.pull)
  const isParked =
    parked !== undefined &&
    parked.tryAgainAt > now &&
    parked.state === (await readMergeRejectionInputsDigest(snapshot, parked.reason, ctx))
  const times = [...stopped.map(({ tryAgainAt }) => tryAgainAt), isParked ? parked.tryAgainAt : undefined]
  const known = times.filter((time) => time !== undefined)
  return {
    stopped,
    ...(isParked && { refused: parked.reason }),
    ...(known.length > 0 && { tryAgainAfter: Math.max(1, Math.ceil((Math.min(...known) - now) / 1000)) }),
  }
}

const unknownMergeRejectionSchema = z.object({ text: z.string(), pull: z.number() })
/**
 * The last unknown rejection text since a merge on the branch, and its pull request. If lost, the next rejection counts
 * as the first.
 */
const unknownMergeRejectionCache = defineCacheNamespace<z.infer<typeof unknownMergeRejectionSchema>>(
  'unknown refusal',
  {
    version: 1,
    read: (stored) => unknownMergeRejectionSchema.safeParse(stored).data,
  },
)
const unknownMergeRejectionTtlSeconds = 3600

/** Whether another pull request got the same unknown text on this branch, ignoring numbers and commits. */
async function wasRejectionSeenOnOtherPull(
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
 * Parks the pull request or stops its branch. An unknown text parks the pull request; if a second one gets the same
 * text, the branch stops too and the pull request waits longer, so that another is tried first.
 */
export async function handleMergeRejection(
  snapshot: PullSnapshot,
  rejection: MergeRejection,
  ctx: JobContext<MergeFreezes & Cache>,
): Promise<void> {
  const isShared = !rejection.isKnown && (await wasRejectionSeenOnOtherPull(snapshot, rejection, ctx))
  const scopedRejection: MergeRejection = isShared ? { ...rejection, scope: 'branch' } : rejection
  const { store, clock, log } = ctx.app
  const { repository, pull, baseRef } = snapshot
  const now = clock.now()
  log.warn({ repository, pull, branch: baseRef, ...scopedRejection }, 'GitHub rejected a merge')
  if (scopedRejection.scope === 'pull' || !scopedRejection.isKnown) {
    const state = await readMergeRejectionInputsDigest(snapshot, scopedRejection.reason, ctx)
    const before = await store.parkedPull(repository, pull)
    const times = before?.state === state ? before.times + 1 : 1
    const wait = scopedRejection.retrySoon
      ? computeQuickRetryDelayMs(computeRejectionBackOffMs(times), times)
      : computeRejectionBackOffMs(times)
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
      tryAgainAt: now + computeRejectionBackOffMs((before?.times ?? 0) + 1),
      rules: await readBranchRulesDigest(baseRef, ctx),
    })
  }
}

/**
 * Finds rejected pull requests that a report on their head may unblock. If GitHub named a single missing check, only
 * that one counts.
 */
export async function findPullsWaitingForStatus(
  { repository: { owner, name }, commit, context }: PassingCommitStatus,
  store: MergeFreezes & Pick<PageRecords, 'findPullRecord'>,
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

/** Clears rejections after a successful merge. */
export async function clearMergeRejections(
  { repository, pull, baseRef }: PullSnapshot,
  { app: { store } }: JobContext<MergeFreezes & Cache>,
): Promise<void> {
  const none = { text: '', pull }
  await store.putCached(
    unknownMergeRejectionCache,
    new Map([[`${toRepositoryKey(repository)} ${baseRef}`, none]]),
    1,
  )
  await store.unparkPull(repository, pull)
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
export async function retryBranchesWithNewRules(
  stops: readonly MergeFreeze[],
  others: readonly string[],
  ctx: JobContext<MergeFreezes & Cache>,
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

/** A digest of the branch's rules and the App's permissions there. */
async function readBranchRulesDigest(
  branch: string,
  { forge, app }: JobContext<Cache>,
  options: { readonly fresh?: boolean } = {},
): Promise<string | undefined> {
  try {
    const { rules, permissions } = await fetchBranchRules(
      { forge, store: app.store, clock: app.clock },
      branch,
      options,
    )
    return createHash('sha256')
      .update(JSON.stringify([rules, permissions]))
      .digest('hex')
  } catch (error) {
    app.log.warn({ err: error, branch }, 'the branch rules could not be read')
    return undefined
  }
}

/** Everything a rejection of one pull request can depend on: its state, reviews, checks, conversations and rules. */
async function readMergeRejectionInputsDigest(
  snapshot: PullSnapshot,
  reason: string,
  ctx: JobContext<Cache>,
): Promise<string> {
  const { pull, head, base, baseRef, draft, reviews, comments } = snapshot
  const parts = [
    head,
    base,
    baseRef,
    draft,
    reviews.map(({ id, state }) => [id, state]),
    comments.flatMap(({ id, author }) => (author?.kind === 'user' ? [id] : [])),
    await ctx.forge.readOtherChecks(head),
    /\b(?:conversations?|comments) must be resolved\b/i.test(reason) &&
      (await ctx.forge.countOpenThreads(pull)),
    await readBranchRulesDigest(baseRef, ctx),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
