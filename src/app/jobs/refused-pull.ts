// Handles GitHub's rejections: parks a pull request or stops its branch, and retries both later.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { PullNumber } from '../../change/ids.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import { backOff, stopsInForce, type LandingStop } from '../../gate/landing-stop.ts'
import type { Refusal } from '../../landing/classify-refusal.ts'
import { knownBranchRules } from '../../examine/known-branch-rules.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { GreenReport } from '../edge/jobs-of-delivery.ts'
import type { JobContext } from './job-context.ts'

/** Milliseconds in which GitHub may catch up; reports still missing then are not waited for. */
const soonMilliseconds = 5000
const reportedMilliseconds = 120_000
const soonOr = (wait: number, times: number): number =>
  times === 1 ? soonMilliseconds : Math.min(wait, reportedMilliseconds)

export interface KeptBack {
  readonly stopped: readonly LandingStop[]
  readonly refused?: string
  /** Seconds until the first of them ends. */
  readonly tryAgainAfter?: number
}

/** Reasons other than checks that keep this pull request from merging. */
export async function whatKeepsBack(
  snapshot: Snapshot,
  place: JobContext<LandingStops & Cache>,
): Promise<KeptBack> {
  const { store, clock } = place.app
  const now = clock.now()
  const stopped = stopsInForce(await store.landingStops(snapshot.repository), snapshot.baseRef, now)
  const parked = await store.parkedPull(snapshot.repository, snapshot.pull)
  const isParked =
    parked !== undefined &&
    parked.tryAgainAt > now &&
    parked.state === (await stateOf(snapshot, parked.reason, place))
  const times = [...stopped.map(({ tryAgainAt }) => tryAgainAt), isParked ? parked.tryAgainAt : undefined]
  const known = times.filter((time) => time !== undefined)
  return {
    stopped,
    ...(isParked && { refused: parked.reason }),
    ...(known.length > 0 && { tryAgainAfter: Math.max(1, Math.ceil((Math.min(...known) - now) / 1000)) }),
  }
}

const met = z.object({ text: z.string(), pull: z.number() })
/**
 * The last unknown rejection text since a merge on the branch, and its pull request. If lost, the next rejection counts
 * as the first.
 */
const unknownTexts = defineCache<z.infer<typeof met>>('unknown refusal', {
  version: 1,
  read: (stored) => met.safeParse(stored).data,
})
const metSeconds = 3600

/** Whether another pull request got the same unknown text on this branch, ignoring numbers and commits. */
async function wasMetByAnother(
  { repository, pull, baseRef }: Snapshot,
  { reason }: Refusal,
  { app: { store } }: JobContext<Cache>,
): Promise<boolean> {
  const text = reason.replace(/\b(?:[0-9a-f]{7,64}|\d+)\b/g, '#')
  const key = `${repositoryKey(repository)} ${baseRef}`
  const first = (await store.getCached(unknownTexts, [key])).get(key)
  if (first?.text === text && first.pull !== pull) return true
  await store.putCached(unknownTexts, new Map([[key, { text, pull }]]), metSeconds)
  return false
}

/**
 * Parks the pull request or stops its branch. An unknown text parks the pull request; if a second one gets the same
 * text, the branch stops too and the pull request waits longer, so that another is tried first.
 */
export async function actOnRefusal(
  snapshot: Snapshot,
  found: Refusal,
  place: JobContext<LandingStops & Cache>,
): Promise<void> {
  const isShared = !found.isKnown && (await wasMetByAnother(snapshot, found, place))
  const refusal: Refusal = isShared ? { ...found, scope: 'branch' } : found
  const { store, clock, log } = place.app
  const { repository, pull, baseRef } = snapshot
  const now = clock.now()
  log.warn({ repository, pull, branch: baseRef, ...refusal }, 'GitHub refused a merge')
  if (refusal.scope === 'pull' || !refusal.isKnown) {
    const state = await stateOf(snapshot, refusal.reason, place)
    const before = await store.parkedPull(repository, pull)
    const times = before?.state === state ? before.times + 1 : 1
    const wait = refusal.retrySoon ? soonOr(backOff(times), times) : backOff(times)
    await store.parkPull(repository, {
      pull,
      reason: refusal.reason,
      state,
      times,
      tryAgainAt: now + (refusal.scope === 'branch' ? 2 * wait : wait),
    })
  }
  if (refusal.scope === 'branch') {
    const before = (await store.landingStops(repository)).find(
      ({ kind, branch }) => kind === 'refused' && branch === baseRef,
    )
    await store.stopLandings({
      repository,
      branch: baseRef,
      kind: 'refused',
      reason: refusal.reason,
      by: { kind: 'bot' },
      pull,
      tryAgainAt: now + backOff((before?.times ?? 0) + 1),
      rules: await nameOfRules(baseRef, place),
    })
  }
}

/**
 * Finds rejected pull requests that a report on their head may unblock. If GitHub named a single missing check, only
 * that one counts.
 */
export async function pullsWaitingFor(
  { repository: { owner, name }, commit, context }: GreenReport,
  store: LandingStops & Pick<PageRecords, 'pullRow'>,
): Promise<readonly PullNumber[]> {
  const repository = { owner: owner.login, name }
  const waiting: PullNumber[] = []
  for (const pull of await store.parkedPulls(repository)) {
    const row = await store.pullRow(repository, pull)
    if (row?.state !== 'open' || row.head !== commit) continue
    const { reason = '' } = (await store.parkedPull(repository, pull)) ?? {}
    const named = [...reason.matchAll(/Required status check "(.+?)" (?:is|has|was)\b/g)].map((it) => it[1])
    if (named.length === 0 || named.includes(context)) waiting.push(pull)
  }
  return waiting
}

/** Clears rejections after a successful merge. */
export async function forgetRefusals(
  { repository, pull, baseRef }: Snapshot,
  { app: { store } }: JobContext<LandingStops & Cache>,
): Promise<void> {
  const none = { text: '', pull }
  await store.putCached(unknownTexts, new Map([[`${repositoryKey(repository)} ${baseRef}`, none]]), 1)
  await store.releasePull(repository, pull)
  await store.resumeLandings({
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
export async function retryWhereRulesChanged(
  stops: readonly LandingStop[],
  others: readonly string[],
  place: JobContext<LandingStops & Cache>,
): Promise<void> {
  const refused = stops.filter(({ kind, branch, rules }) => kind === 'refused' && branch && rules)
  for (const name of new Set([...refused.flatMap(({ branch }) => branch ?? []), ...others])) {
    const now = await nameOfRules(name, place, { fresh: true })
    if (now === undefined) continue
    for (const { repository, branch, rules } of refused)
      if (branch === name && rules !== now) await place.app.store.retryLandings({ repository, branch })
  }
}

/**
 * Reads the branch's rules again after a rejection. Returns true if they differ from those the merge was planned with,
 * so that another method may work.
 */
export async function haveRulesChanged(branch: string, place: JobContext<Cache>): Promise<boolean> {
  const before = await nameOfRules(branch, place)
  const now = await nameOfRules(branch, place, { fresh: true })
  return before !== undefined && now !== undefined && before !== now
}

/** A digest of the branch's rules and the App's permissions there. */
async function nameOfRules(
  branch: string,
  { forge, app }: JobContext<Cache>,
  options: { readonly fresh?: boolean } = {},
): Promise<string | undefined> {
  try {
    const { rules, permissions } = await knownBranchRules(
      { forge, store: app.store, clock: app.clock },
      branch,
      options,
    )
    return createHash('sha256')
      .update(JSON.stringify([rules, permissions]))
      .digest('hex')
  } catch (error) {
    app.log.warn({ err: error, branch }, 'the rules of a branch could not be read')
    return undefined
  }
}

/** Everything a rejection of one pull request can depend on: its state, reviews, checks, conversations and rules. */
async function stateOf(snapshot: Snapshot, reason: string, place: JobContext<Cache>): Promise<string> {
  const { pull, head, base, baseRef, draft, reviews, comments } = snapshot
  const parts = [
    head,
    base,
    baseRef,
    draft,
    reviews.map(({ id, state }) => [id, state]),
    comments.flatMap(({ id, author }) => (author?.kind === 'user' ? [id] : [])),
    await place.forge.othersChecks(head),
    /\b(?:conversations?|comments) must be resolved\b/i.test(reason) && (await place.forge.openThreads(pull)),
    await nameOfRules(baseRef, place),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
