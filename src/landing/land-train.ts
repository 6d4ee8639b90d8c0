// Lands several pull requests of a branch by one push. Each is validated on top of the one before, with its own permit,
// fresh look and intent. A member that can't land ends the train before it. A crash is settled for each as if it had
// come alone.
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
  /** Its plan as a single landing. A train uses its last member's plan. */
  readonly planned: Planned
  /** Our check runs. GitHub looks for them on the new tip, so only the last member's are put there. */
  readonly checks: readonly CheckRun[]
}

type TrainOptions = Omit<LandOptions, 'plan' | 'checks'>

export interface TrainOutcome {
  /** A missing member waits and is judged again on the new base. */
  readonly outcomes: ReadonlyMap<PullNumber, LandingOutcome>
  /** GitHub's words for refusing the whole train. They blame no single member. */
  readonly refused?: string
}

/** Call with the branch's lease. Rejects as landPull() does, leaving intents open. */
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

/** The members before the first one that can't land. The reasons are in `outcomes`. */
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

/** Records an intent for each before the branch can move. Returns fewer if the lease was lost. */
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

/** Reads the branch regardless of GitHub's answer, once for all where possible. */
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

/** Whether the branch holds the last pushed commit, and so all of them. */
async function isThere(intents: readonly Intent[], repository: Repository): Promise<boolean> {
  const last = intents.at(-1)
  if (last === undefined) return false
  await repository.fetch(last.baseRef)
  const tip = await repository.tip(last.baseRef)
  return tip !== undefined && (await repository.contains(tip, last.commit).catch(() => false))
}
