// Lands one pull request: lease, fresh look, intent, push, audit. Each step survives the process: whoever comes next
// finds the intent and learns what happened by reading the branch, never by pushing again blindly (T38 to T44).
import type { CommitSha } from '../change/ids.ts'
import type { RepositoryName, Snapshot } from '../change/snapshot.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import { sayStop, stopsInForce } from '../gate/landing-stop.ts'
import type { Clock } from '../ports/clock.ts'
import type { Forge } from '../ports/forge.ts'
import type { Repository } from '../ports/repository.ts'
import type { Intent, Lease, Store } from '../ports/store.ts'
import { mayMeetPulls, pullsMet } from '../examine/closed-pulls.ts'
import { classifyRefusal, type Refusal } from './classify-refusal.ts'
import { crashPoint } from './crash-point.ts'
import type { Examination } from '../examine/examine.ts'

export type LandingOutcome =
  | { readonly kind: 'landed' }
  /** Something moved: look again from the start. */
  | { readonly kind: 'again'; readonly why: string }
  /** Another landing on this branch is under way. */
  | { readonly kind: 'busy' }
  /** GitHub does not take it, for a reason of this pull request or of its branch. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export interface LandOptions {
  readonly repository: Repository
  readonly forge: Forge
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly leaseSeconds: number
  /** Stops the branch and tells people. Called before the intent is closed: should it fail, the next to come does it. */
  readonly onMismatch: (mismatch: Mismatch) => Promise<void>
}

/** The landing whose outcome is not the validated one, what lies on the branch instead, and what differs, in words. */
export interface Mismatch {
  readonly intent: Intent
  readonly found?: CommitSha
  readonly differs: string
}

/** What it takes to learn how landings ended. */
export type SettleOptions = Pick<LandOptions, 'repository' | 'store' | 'onMismatch'>

/** What the permit was made out for. */
export interface Examined extends Pick<Examination, 'snapshot'> {
  readonly carried?: Examination['carried'] | undefined
}

/** The lease under which everything that moves a branch happens, one at a time over all instances. */
export function leaseName(repository: RepositoryName, branch: string): string {
  return `land ${repository.owner}/${repository.name} ${branch}`
}

/** Rejects with a GitError or ForgeError when the outcome is not known: the intent stays open and is resolved later. */
export async function landPull(
  examined: Examined,
  permit: MergePermit,
  options: LandOptions,
): Promise<LandingOutcome> {
  const { store, leaseSeconds } = options
  const { landing } = permit
  const lease = await store.acquireLease(leaseName(landing.repository, landing.baseRef), leaseSeconds)
  if (lease === undefined) return { kind: 'busy' }
  try {
    return await landUnderLease(examined, permit, lease, options)
  } finally {
    await store.releaseLease(lease)
  }
}

async function landUnderLease(
  examined: Examined,
  permit: MergePermit,
  lease: Lease,
  options: LandOptions,
): Promise<LandingOutcome> {
  const { repository, forge, store, clock } = options
  const { landing } = permit
  crashPoint('lease-taken')
  await settleLandings(landing.repository, options)
  const stops = await store.landingStops(landing.repository)
  const [stop] = stopsInForce(stops, landing.baseRef, clock.now())
  if (stop !== undefined) return { kind: 'again', why: sayStop(stop) }
  if ((await store.landingOf(landing.repository, landing.pull)) !== undefined) return { kind: 'landed' }
  const fresh = await forge.readSnapshot(landing.pull, { anew: true })
  if (fresh === null || !saysTheSame(fresh, examined.snapshot))
    return { kind: 'again', why: 'the pull request has changed' }
  if (!(await meetsTheSame(examined, forge)))
    return { kind: 'again', why: 'it would close other pull requests than those that were judged' }
  crashPoint('before-intent')
  const intent = await store.beginLanding(lease, landing)
  if (intent === undefined) return { kind: 'again', why: 'the lease was lost' }
  crashPoint('intent-written')
  const result = await repository.land(permit)
  crashPoint('pushed')
  if (result.kind !== 'landed') {
    await store.endLanding(intent, 'abandoned')
    if (result.kind === 'base-moved') return { kind: 'again', why: 'the base branch has changed' }
    const refusal = classifyRefusal({ by: 'push', text: result.reason }, { commit: landing.commit })
    return refusal.scope === 'race' ? { kind: 'again', why: refusal.reason } : { kind: 'refused', refusal }
  }
  await audit(intent, options)
  crashPoint('audited')
  return { kind: 'landed' }
}

/**
 * Settles what an earlier process began. Under the lease nobody else pushes, so a branch that does not contain the
 * commit never will through us: a push that is still under way can only land exactly what was validated on exactly
 * the base it was validated on, and the branch is read again before the next landing.
 */
export async function settleLandings(name: RepositoryName, options: SettleOptions): Promise<void> {
  const { repository, store } = options
  for (const intent of await store.openLandings(name)) {
    await repository.fetch(intent.baseRef)
    const tip = await repository.tip(intent.baseRef)
    if (tip !== undefined && (await repository.contains(tip, intent.commit).catch(() => false)))
      await audit(intent, options)
    else await store.endLanding(intent, 'abandoned')
  }
}

/** After every landing: the branch holds the validated commit with the validated tree, or its landings stop (I14, T38). */
async function audit(intent: Intent, { repository, store, onMismatch }: SettleOptions): Promise<void> {
  await repository.fetch(intent.baseRef)
  crashPoint('fetched-for-audit')
  const tip = await repository.tip(intent.baseRef)
  const isThere = tip !== undefined && (await repository.contains(tip, intent.commit))
  const holds = isThere && (await repository.treeOf(intent.commit)) === intent.tree
  if (holds) return store.endLanding(intent, 'landed')
  await onMismatch({
    intent,
    ...(tip !== undefined && { found: tip }),
    differs: isThere
      ? 'the merge has another tree than the one that was checked'
      : 'GitHub took the merge, and the branch does not contain it',
  })
  await store.endLanding(intent, 'mismatch')
}

/** Whether two snapshots lead to the same verdict: everything but the order of what GitHub lists. */
export function saysTheSame(a: Snapshot, b: Snapshot): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}

/**
 * Whether the pull requests that the landing would close are those that were judged, in the state in which they were.
 * One that is opened or pushed to between this and the push is closed unseen: GitHub offers no such condition for a push.
 */
async function meetsTheSame({ snapshot, carried }: Examined, forge: Forge): Promise<boolean> {
  if (carried === undefined || !mayMeetPulls(carried.commits)) return true
  const now = pullsMet(await forge.openPulls(), carried.commits, snapshot)
  const facts = (met: typeof now) =>
    JSON.stringify(met.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.met)
}

function comparable(snapshot: Snapshot) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...snapshot,
    labels: snapshot.labels.toSorted(),
    reviews: snapshot.reviews.toSorted(byId),
    // The bot's own comment changes while it works; comments of people are commands and must still be as they were.
    comments: snapshot.comments.filter(({ author }) => author?.kind === 'user').toSorted(byId),
  }
}
