// Lands several pull requests of one branch by one push: each is validated on top of the one before it, and has its own
// permit, its own fresh look and its own intent. What speaks against one of them ends the train before it; those before it
// land. Each lands once, and after a crash in the middle each is settled by reading, as if it had come alone.
import type { PullNumber } from '../change/ids.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { Lease } from '../ports/leases.ts'
import type { Intent } from '../ports/landings.ts'
import type { CheckRun } from '../ports/forge.ts'
import type { Repository } from '../ports/repository.ts'
import { crashPoint } from './crash-point.ts'
import { isInItsEpoch, wasAnother, whoChanged } from './fresh-look.ts'
import { whatStops, whatWasBegun } from './land-pull.ts'
import type { Examined, LandingOutcome, LandOptions, Planned } from './landing-options.ts'
import { preparePush, tidyUp } from './push-merge.ts'
import type { Acted, Step } from './ready.ts'
import { settle } from './settle-landings.ts'

export interface TrainMember {
  readonly examined: Examined
  readonly permit: MergePermit
  /** How it would land by itself: a train goes as its last member would. */
  readonly planned: Planned
  /** Our check runs for it. GitHub looks for them on what becomes the tip, so those of the last member are put there. */
  readonly checks: readonly CheckRun[]
}

type TrainOptions = Omit<LandOptions, 'plan' | 'checks'>

export interface TrainOutcome {
  /** What became of each. A member that is not here waits, and is judged again on what the branch has then. */
  readonly outcomes: ReadonlyMap<PullNumber, LandingOutcome>
  /** GitHub refused all of them together: whose fault it was is not known, so it is nobody's. In GitHub's words. */
  readonly refused?: string
}

/** For the holder of the branch's lease. Rejects as landPull() does, with intents that stay open. */
export async function landTrain(
  members: readonly TrainMember[],
  lease: Lease,
  options: TrainOptions,
): Promise<TrainOutcome> {
  const outcomes = new Map<PullNumber, LandingOutcome>()
  const able = await whoMayGo(members, options, outcomes)
  const last = able.at(-1)
  if (last === undefined) return { outcomes }
  const train = able.map(({ permit }) => permit)
  const { checks, planned, permit } = last
  const { method } = planned.plan
  if (method?.kind !== 'push' || method.signed) throw new Error('a train takes nothing but plain pushes')
  const plan = () => Promise.resolve(planned)
  const step: Step = { ...planned, permit, train, options: { ...options, plan, checks } }
  try {
    const prepared = await preparePush(step, method)
    if (prepared.kind === 'refused') return { outcomes, refused: prepared.reason }
    // All of them are for one branch.
    const stop = await whatStops(permit.landing, options)
    if (stop !== undefined) {
      for (const { landing } of train) outcomes.set(landing.pull, { kind: 'again', why: stop })
      return { outcomes }
    }
    crashPoint('before-intent')
    const intents = await beginAll(train, method, lease, options)
    if (intents.length < train.length) {
      for (const intent of intents) await settle(intent, options, { heard: 'refused' })
      return { outcomes }
    }
    const acted = await prepared.act()
    crashPoint('pushed')
    await settleAll(intents, acted, options, outcomes)
    return acted.kind === 'refused' ? { outcomes, refused: acted.reason } : { outcomes }
  } finally {
    await tidyUp(step)
  }
}

/** The members up to the first against whom something speaks; what speaks against any of them is in `outcomes`. */
async function whoMayGo(
  members: readonly TrainMember[],
  options: TrainOptions,
  outcomes: Map<PullNumber, LandingOutcome>,
): Promise<readonly TrainMember[]> {
  for (const { permit } of members) {
    const before = await whatWasBegun(permit, options)
    if (before !== undefined) outcomes.set(permit.landing.pull, before)
  }
  const changed = await whoChanged(
    members.map(({ examined }) => examined),
    options.forge,
  )
  for (const [pull, why] of changed) if (!outcomes.has(pull)) outcomes.set(pull, { kind: 'again', why })
  for (const { examined, permit } of members) {
    const { pull } = permit.landing
    if (!outcomes.has(pull) && !(await isInItsEpoch(examined, permit.landing, options.store)))
      outcomes.set(pull, { kind: 'again', why: wasAnother })
  }
  const end = members.findIndex(({ permit }) => outcomes.has(permit.landing.pull))
  return end < 0 ? members : members.slice(0, end)
}

/** An intent for each, before anything can move the branch. Fewer: the lease was lost in between. */
async function beginAll(
  permits: readonly MergePermit[],
  method: LandingMethod,
  lease: Lease,
  { store, clock }: TrainOptions,
): Promise<readonly Intent[]> {
  const intents: Intent[] = []
  for (const { landing } of permits) {
    const intent = await store.beginLanding(lease, { ...landing, method, begunAt: clock.now() })
    if (intent === undefined) return intents
    intents.push(intent)
    crashPoint('intent-written')
  }
  return intents
}

/** Whatever GitHub said, the branch is read; for all of them once where that is enough. */
async function settleAll(
  intents: readonly Intent[],
  acted: Acted,
  options: TrainOptions,
  outcomes: Map<PullNumber, LandingOutcome>,
): Promise<void> {
  const heard = acted.kind === 'done' ? 'done' : 'refused'
  const isFetched = await isThere(intents, options.repository)
  for (const intent of intents) {
    const settled = await settle(intent, options, { heard, isFetched })
    crashPoint('audited')
    if (settled.kind === 'landed' || settled.kind === 'mismatch') outcomes.set(intent.pull, settled)
  }
}

/** Whether the branch, as it is now, holds what was pushed last, and so all of it. */
async function isThere(intents: readonly Intent[], repository: Repository): Promise<boolean> {
  const last = intents.at(-1)
  if (last === undefined) return false
  await repository.fetch(last.baseRef)
  const tip = await repository.tip(last.baseRef)
  return tip !== undefined && (await repository.contains(tip, last.commit).catch(() => false))
}
