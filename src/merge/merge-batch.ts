// Lands several pull requests of a branch by one push. Each is validated on top of the one before, with its own permit,
// fresh look and intent. A member that can't land ends the train before it. A crash is settled for each as if it had
// come alone.
import type { PullNumber } from '../change/ids.ts'
import type { MergeStrategy } from '../gate/merge-strategy.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { Lease } from '../ports/leases.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { CheckRunContent } from '../ports/forge.ts'
import type { GitRepository } from '../ports/repository.ts'
import { triggerCrashPoint } from './crash-point.ts'
import { isInSameEpoch, epochChangedMessage, findChangedPulls } from './stale-check.ts'
import { readActiveFreeze, recoverPendingMerges } from './merge-pull.ts'
import type { EvaluatedPull, MergeOutcome, MergeOptions, PlannedMerge } from './merge-options.ts'
import { preparePushMerge, removeTemporaryBranch } from './push-merge.ts'
import type { MergeActionResult, MergeAttempt } from './prepared-merge.ts'
import { recoverMerge } from './recover-merges.ts'

export interface BatchMember {
  readonly examined: EvaluatedPull
  readonly permit: MergePermit
  /** Its plan as a single landing. A train uses its last member's plan. */
  readonly planned: PlannedMerge
  /** Our check runs. GitHub looks for them on the new tip, so only the last member's are put there. */
  readonly checks: readonly CheckRunContent[]
}

type BatchMergeOptions = Omit<MergeOptions, 'plan' | 'checks'>

export interface BatchMergeResult {
  /** A missing member waits and is judged again on the new base. */
  readonly outcomes: ReadonlyMap<PullNumber, MergeOutcome>
  /** GitHub's words for refusing the whole train. They blame no single member. */
  readonly refused?: string
}

/** Call with the branch's lease. Rejects as landPull() does, leaving intents open. */
export async function mergePullBatch(
  members: readonly BatchMember[],
  lease: Lease,
  options: BatchMergeOptions,
): Promise<BatchMergeResult> {
  const outcomes = new Map<PullNumber, MergeOutcome>()
  const able = await selectMergeableMembers(members, options, outcomes)
  const last = able.at(-1)
  if (last === undefined) return { outcomes }
  const batch = able.map(({ permit }) => permit)
  const { checks, planned, permit } = last
  const { method } = planned.plan
  if (method?.kind !== 'push' || method.signed) throw new Error('a train takes nothing but plain pushes')
  const plan = () => Promise.resolve(planned)
  const step: MergeAttempt = { ...planned, permit, batch, options: { ...options, plan, checks } }
  try {
    const prepared = await preparePushMerge(step, method)
    if (prepared.kind === 'refused') return { outcomes, refused: prepared.reason }
    const stop = await readActiveFreeze(permit.landing, options)
    if (stop !== undefined) {
      for (const { landing } of batch) outcomes.set(landing.pull, { kind: 'again', why: stop })
      return { outcomes }
    }
    triggerCrashPoint('before-intent')
    const intents = await recordIntents(batch, method, lease, options)
    if (intents.length < batch.length) {
      for (const intent of intents) await recoverMerge(intent, options, { heard: 'refused' })
      return { outcomes }
    }
    const acted = await prepared.act()
    triggerCrashPoint('pushed')
    await recoverMerges(intents, acted, options, outcomes)
    return acted.kind === 'refused' ? { outcomes, refused: acted.reason } : { outcomes }
  } finally {
    await removeTemporaryBranch(step)
  }
}

/** The members before the first one that can't land. The reasons are in `outcomes`. */
async function selectMergeableMembers(
  members: readonly BatchMember[],
  options: BatchMergeOptions,
  outcomes: Map<PullNumber, MergeOutcome>,
): Promise<readonly BatchMember[]> {
  for (const { permit } of members) {
    const before = await recoverPendingMerges(permit, options)
    if (before !== undefined) outcomes.set(permit.landing.pull, before)
  }
  const changed = await findChangedPulls(
    members.map(({ examined }) => examined),
    options.forge,
  )
  for (const [pull, why] of changed) if (!outcomes.has(pull)) outcomes.set(pull, { kind: 'again', why })
  for (const { examined, permit } of members) {
    const { pull } = permit.landing
    if (!outcomes.has(pull) && !(await isInSameEpoch(examined, permit.landing, options.store)))
      outcomes.set(pull, { kind: 'again', why: epochChangedMessage })
  }
  const end = members.findIndex(({ permit }) => outcomes.has(permit.landing.pull))
  return end < 0 ? members : members.slice(0, end)
}

/** Records an intent for each before the branch can move. Returns fewer if the lease was lost. */
async function recordIntents(
  permits: readonly MergePermit[],
  method: MergeStrategy,
  lease: Lease,
  { store, clock }: BatchMergeOptions,
): Promise<readonly MergeIntent[]> {
  const intents: MergeIntent[] = []
  for (const { landing } of permits) {
    const intent = await store.startMerge(lease, { ...landing, method, begunAt: clock.now() })
    if (intent === undefined) return intents
    intents.push(intent)
    triggerCrashPoint('intent-written')
  }
  return intents
}

/** Reads the branch regardless of GitHub's answer, once for all where possible. */
async function recoverMerges(
  intents: readonly MergeIntent[],
  acted: MergeActionResult,
  options: BatchMergeOptions,
  outcomes: Map<PullNumber, MergeOutcome>,
): Promise<void> {
  const heard = acted.kind === 'done' ? 'done' : 'refused'
  const isFetched = await isLastMergeOnBranch(intents, options.repository)
  for (const intent of intents) {
    const settled = await recoverMerge(intent, options, { heard, isFetched })
    triggerCrashPoint('audited')
    if (settled.kind === 'landed' || settled.kind === 'mismatch') outcomes.set(intent.pull, settled)
  }
}

/** Whether the branch holds the last pushed commit, and so all of them. */
async function isLastMergeOnBranch(
  intents: readonly MergeIntent[],
  repository: GitRepository,
): Promise<boolean> {
  const last = intents.at(-1)
  if (last === undefined) return false
  await repository.fetch(last.baseRef)
  const tip = await repository.tip(last.baseRef)
  return tip !== undefined && (await repository.contains(tip, last.commit).catch(() => false))
}
