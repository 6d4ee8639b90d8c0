// Lands one pull request. Each step survives a crash: the next process finds the intent and reads what happened,
// instead of retrying blindly (T38 to T44).
import { sayStop, stopsInForce } from '../gate/landing-stop.ts'
import { formatRemoval } from '../gate/queue-removal.ts'
import type { Landing, MergePermit } from '../gate/merge-permit.ts'
import type { Lease } from '../ports/leases.ts'
import { crashPoint } from './crash-point.ts'
import { prepareQueue } from './enqueue-pull.ts'
import { isInItsEpoch, wasAnother, whatChanged, whoChanged } from './fresh-look.ts'
import { prepareGitHubMerge } from './github-merge.ts'
import { leaseName } from './lease-name.ts'
import type { Examined, LandOptions, LandingOutcome, SettleOptions } from './landing-options.ts'
import { preparePush, tidyUp } from './push-merge.ts'
import { readRemoval } from './queue-removals.ts'
import type { Prepared, Ready, Step } from './ready.ts'
import { whatRefused } from './what-refused.ts'
import { settle, settleBranch } from './settle-landings.ts'

/** Rejects with a GitError or ForgeError when the outcome is unknown: the intent stays open for a later process. */
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

/** landPull() for a caller that holds the branch's lease. */
export async function landUnderLease(
  examined: Examined,
  permit: MergePermit,
  lease: Lease,
  options: LandOptions,
): Promise<LandingOutcome> {
  crashPoint('lease-taken')
  const before = await whatWasBegun(permit, options)
  if (before !== undefined) return before
  const step: Step = { ...(await options.plan()), permit, options }
  const outcome = await landBy(step, examined, lease)
  const other = withChecksFirst(step, outcome)
  return other === undefined ? outcome : landBy(other, examined, lease)
}

async function landBy(step: Step, examined: Examined, lease: Lease): Promise<LandingOutcome> {
  const { permit, options } = step
  try {
    // Also for removals while it waited, or during an earlier process.
    if (step.plan.method?.kind === 'queue') {
      const { removal, isNew } = await readRemoval(permit.landing, options)
      if (isNew) return { kind: 'again', why: formatRemoval(removal) }
    }
    const prepared = await prepare(step)
    if (prepared.kind === 'refused') return whatRefused(prepared)
    const changed = await whatSpeaksAgainst(prepared, examined, options)
    if (changed !== undefined) return { kind: 'again', why: changed }
    if (!(await isInItsEpoch(examined, permit.landing, options.store)))
      return { kind: 'again', why: wasAnother }
    // Preparation takes minutes if checks must be on the merge.
    const stop = await whatStops(permit.landing, options)
    if (stop !== undefined) return { kind: 'again', why: stop }
    return await act(prepared, permit, lease, options)
  } finally {
    await tidyUp(step)
  }
}

/** A push checks its base itself. GitHub's merge pins none, so everything is read again. */
async function whatSpeaksAgainst(
  { method }: Ready,
  examined: Examined,
  { forge }: LandOptions,
): Promise<string | undefined> {
  if (method.kind !== 'push') return whatChanged(examined, forge)
  return (await whoChanged([examined], forge)).get(examined.snapshot.pull)
}

/**
 * GitHub documents that checks of a head that contains its base count for their merge. If a server requires them on the
 * merge anyway, they are put there.
 */
function withChecksFirst(step: Step, outcome: LandingOutcome): Step | undefined {
  const { plan, rules, options } = step
  const { method } = plan
  if (outcome.kind !== 'refused') return undefined
  // An unknown refusal can mean the same.
  if (!outcome.refusal.retrySoon && outcome.refusal.isKnown) return undefined
  if (method?.kind !== 'push' || method.checksFirst) return undefined
  const own = new Set(options.checks.map(({ name }) => name))
  const required = rules?.checks.required ?? []
  if (required.length === 0 || required.some(({ name }) => !own.has(name))) return undefined
  return { ...step, plan: { ...plan, method: { ...method, checksFirst: true } } }
}

/** Why all landings of the branch are stopped, in words. */
export async function whatStops(
  { repository, baseRef }: Landing,
  { store, clock }: Pick<SettleOptions, 'store' | 'clock'>,
): Promise<string | undefined> {
  const [stop] = stopsInForce(await store.landingStops(repository), baseRef, clock.now())
  return stop && sayStop(stop)
}

/** An earlier landing that is unfinished, or whose outcome must be reported first. */
export async function whatWasBegun(
  { landing }: MergePermit,
  options: SettleOptions,
): Promise<LandingOutcome | undefined> {
  const { store } = options
  const all = await settleBranch(landing.repository, landing.baseRef, options)
  for (const { settled } of all) if (settled.kind === 'mismatch') return settled
  const stop = await whatStops(landing, options)
  if (stop !== undefined) return { kind: 'again', why: stop }
  const landed = await store.landingOf(landing.repository, landing.pull)
  if (landed?.head === landing.head) return { kind: 'landed', commit: landed.commit }
  // A push at the moment of the merge leaves the pull request open on GitHub, but it lands only once.
  if (landed !== undefined)
    return whatRefused({
      kind: 'refused',
      reason: `what it was before is merged as ${landed.commit.slice(0, 12)}: open another pull request for what came after`,
      scope: 'pull',
    })
  const own = all.find(({ intent }) => intent.pull === landing.pull && intent.head === landing.head)
  // Another pull request on its way into the queue doesn't block.
  const isInTheWay = ({ intent, settled }: (typeof all)[number]) =>
    settled.kind === 'unclear' && (settled.isMerged === true || intent.method?.kind !== 'queue')
  if (own?.settled.kind === 'unclear' || all.some(isInTheWay)) return { kind: 'busy' }
  if (own?.settled.kind === 'queued') return { kind: 'queued' }
  if (own?.settled.kind === 'abandoned' && own.intent.method?.kind === 'queue') {
    const { removal, isNew } = await readRemoval(landing, options)
    if (isNew) return { kind: 'again', why: formatRemoval(removal) }
    return whatRefused({ kind: 'refused', reason: formatRemoval(removal), scope: 'pull' })
  }
  return undefined
}

async function prepare(step: Step): Promise<Prepared> {
  const { method } = step.plan
  switch (method?.kind) {
    case undefined:
      return {
        kind: 'refused',
        reason: step.plan.missing?.join('; ') ?? 'GitHub would not take it by any method',
        scope: step.shutFor ?? 'branch',
      }
    case 'push':
      return preparePush(step, method)
    case 'github-merge':
      return prepareGitHubMerge(step, method)
    case 'queue':
      return prepareQueue(step, method)
  }
}

/** Records the intent, acts, and reads the outcome. */
async function act(
  { method, commit, act }: Ready,
  { landing }: MergePermit,
  lease: Lease,
  options: LandOptions,
): Promise<LandingOutcome> {
  const { store, clock } = options
  crashPoint('before-intent')
  const begun = { ...landing, commit, method, begunAt: clock.now() }
  const intent = await store.beginLanding(lease, begun)
  if (intent === undefined) return { kind: 'again', why: 'the lease was lost' }
  crashPoint('intent-written')
  const acted = await act()
  crashPoint('pushed')
  // GitHub has reported failure and still moved a branch, so the branch is always read.
  const settled = await settle(intent, options, { heard: acted.kind === 'done' ? 'done' : 'refused' })
  crashPoint('audited')
  switch (settled.kind) {
    case 'landed':
    case 'mismatch':
    case 'queued':
      return settled
    case 'unclear':
      return { kind: 'busy' }
    case 'abandoned':
      if (acted.kind === 'refused') return whatRefused(acted)
      return { kind: 'again', why: acted.kind === 'race' ? acted.why : 'the merge queue let it go' }
  }
}
