// A branch's rules on GitHub and what a merge plan derives from them, and the reasons why a pull request is not
// merged for now: freezes, rejections by GitHub, and removals from the merge queue.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Config } from '../config/config.ts'
import { getRequiredBotChecks } from '../policy/decide.ts'
import type { MergePlanInput, TokenPermissions, BranchRules } from '../policy/branch-rules.ts'
import { toPrefixedCheckNames, botCheckNames } from '../report/report-options.ts'
import { toRepositoryKey, type PullSnapshot, type PullComment } from '../pull-request/snapshot.ts'
import type { Clock } from '../ports/clock.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import { findActiveFreezes, type MergeFreeze } from '../policy/merge-freeze.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { JobContext } from '../jobs/job-context.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import { isMergeQueueRemovalByUser, type MergeQueueRemoval } from '../policy/merge-strategy.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import type { MergeApi } from '../ports/merge-api.ts'

const storedMergeQueueRemovalSchema = z.object({
  id: z.string(),
  head: z.string(),
  at: z.string(),
  by: z.string(),
})

/** Keyed by pull request. src/adapters/store/prune.ts removes the records of merged pull requests. */
const mergeQueueRemovalStateNamespace = defineStateNamespace(
  'merge queue removal',
  1,
  storedMergeQueueRemovalSchema,
)

type PullRequestHead = Pick<ValidatedMerge, 'repository' | 'pull' | 'head'>

export interface MergeBackoff {
  readonly stopped: readonly MergeFreeze[]
  readonly rejection?: string
  /** Seconds until the first of them ends. */
  readonly tryAgainAfter?: number
}

interface CachedBranchRules {
  readonly rules: BranchRules
  /** Absent: unknown. */
  readonly permissions?: TokenPermissions
  /** Milliseconds since the epoch. */
  readonly readAt: number
}

/** Branch settings change seldom. */
const branchRulesCacheSeconds = 3600

interface BranchRulesContext {
  readonly forge: Pick<Forge, 'repository' | 'branchRules' | 'permissions'>
  readonly store: Cache
  readonly clock: Clock
}

const branchRulesCache = defineCacheNamespace<CachedBranchRules>('branch rules', 1, (stored) =>
  typeof stored === 'object' && stored !== null ? (stored as CachedBranchRules) : undefined,
)

export function toMergePlanInput(
  config: Pick<Config, 'install' | 'merge'>,
  branch: Pick<MergePlanInput, 'rules' | 'permissions' | 'app'>,
): MergePlanInput & { readonly checksToRequire: readonly string[] } {
  return {
    ...branch,
    setting: config.merge.method,
    ownChecks: botCheckNames,
    checksToRequire: toPrefixedCheckNames(getRequiredBotChecks(config)),
  }
}

/**
 * Caches a branch's rules for an hour; they are read again after GitHub rejects something. `fresh` ignores the cache,
 * as after a rejection. Rejects with a ForgeError or StoreError.
 */
export async function fetchBranchRules(
  { forge, store, clock }: BranchRulesContext,
  branch: string,
  { fresh = false }: { readonly fresh?: boolean } = {},
): Promise<CachedBranchRules> {
  const key = `${toRepositoryKey(forge.repository)} ${branch}`
  const known = fresh ? undefined : (await store.getCached(branchRulesCache, [key])).get(key)
  if (known !== undefined) return known
  const permissions = await forge.permissions()
  const read: CachedBranchRules = {
    rules: await forge.branchRules(branch),
    ...(permissions !== undefined && { permissions }),
    readAt: clock.now(),
  }
  await store.putCached(branchRulesCache, new Map([[key, read]]), branchRulesCacheSeconds)
  return read
}

/**
 * How long a rejected pull request or a frozen branch waits, from the records of earlier merges. Reasons other than
 * checks that keep this pull request from merging.
 */
export async function readMergeBackoff(
  snapshot: PullSnapshot,
  ctx: JobContext<MergeFreezeStore & Cache>,
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
    ...(isParked && { rejection: parked.reason }),
    ...(known.length > 0 && { tryAgainAfter: Math.max(1, Math.ceil((Math.min(...known) - now) / 1000)) }),
  }
}

/** Everything a rejection of one pull request can depend on: its state, reviews, checks, conversations and rules. */
export async function readMergeRejectionInputsDigest(
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

/**
 * Whether GitHub rejects a merge because of one unsigned commit. False if the rules cannot be read, because GitHub
 * applies them anyway. A queue that squashes or rebases merges other commits than those of the pull request.
 */
export async function requiresSignedCommits(branch: string, ctx: JobContext<Cache>): Promise<boolean> {
  const { rules } = (await fetchBranchRulesOrWarn(branch, ctx)) ?? {}
  return rules?.signatures === true && (rules.queue?.method ?? 'merge') === 'merge'
}

/** A digest of the branch's rules and the App's permissions there. */
export async function readBranchRulesDigest(
  branch: string,
  ctx: JobContext<Cache>,
  options: { readonly fresh?: boolean } = {},
): Promise<string | undefined> {
  const known = await fetchBranchRulesOrWarn(branch, ctx, options)
  if (known === undefined) return undefined
  return createHash('sha256')
    .update(JSON.stringify([known.rules, known.permissions]))
    .digest('hex')
}

async function fetchBranchRulesOrWarn(
  branch: string,
  { forge, app }: JobContext<Cache>,
  options: { readonly fresh?: boolean } = {},
): Promise<CachedBranchRules | undefined> {
  try {
    return await fetchBranchRules({ forge, store: app.store, clock: app.clock }, branch, options)
  } catch (error) {
    app.log.warn({ err: error, branch }, 'the branch rules could not be read')
    return undefined
  }
}

/**
 * Finds pull requests that a user removed from the merge queue. Reads the timeline, because a webhook can be lost. A
 * removal blocks that head until an authorized user requests the merge again. Records and returns a user's new removal
 * of this head.
 */
export async function recordMergeQueueRemoval(
  { repository, pull, head }: PullRequestHead,
  { merging, store }: { readonly merging: Pick<MergeApi, 'readQueueRemoval'>; readonly store: StateStore },
): Promise<{ readonly removal: MergeQueueRemoval | undefined; readonly isNew: boolean }> {
  const removal = await merging.readQueueRemoval(pull)
  if (removal === undefined || !isMergeQueueRemovalByUser(removal)) return { removal, isNew: false }
  const { id, at, by } = removal
  const isNew = (await store.readState(mergeQueueRemovalStateNamespace, repository, String(pull)))?.id !== id
  if (isNew)
    await store.writeState(
      mergeQueueRemovalStateNamespace,
      repository,
      new Map([[String(pull), { id, head, at, by }]]),
    )
  return { removal, isNew }
}

/** Who removed this head from the queue, unless a later /merge requests it again. */
export async function readMergeQueueRemovalUser(
  { repository, pull, head, comments }: PullRequestHead & { readonly comments: readonly PullComment[] },
  listCommands: () => Promise<readonly CommandRecord[]>,
  store: Pick<StateStore, 'readState'>,
): Promise<string | undefined> {
  const removal = await store.readState(mergeQueueRemovalStateNamespace, repository, String(pull))
  if (removal === undefined || removal.head !== head) return undefined
  // GitHub's times are in seconds, so the order within one second is unknown.
  const later = new Set(comments.filter(({ createdAt }) => createdAt > removal.at).map(({ id }) => id))
  const isRequestedAgain = (await listCommands()).some(
    ({ command, outcome, comment, head: of }) =>
      command === 'merge' && outcome === 'done' && of === head && later.has(comment),
  )
  return isRequestedAgain ? undefined : removal.by
}
