// Merges several pull requests of a branch with one push. Each is validated on top of the previous one, with a separate
// permit, final check, and intent. The batch ends before the first member that cannot be merged. After a crash, each
// member is recovered as if it had been merged alone.
import type { PullNumber } from '../pull-request/ids.ts'
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import type { MergePermit } from '../policy/merge-permit.ts'
import type { Lease } from '../ports/jobs.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import type { CheckRunContent } from '../ports/forge.ts'
import type { GitRepository } from '../ports/repository.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import {
  isPullUnchangedSinceEvaluation,
  pullChangedAndRevertedMessage,
  explainStaleMergePermitsInBatch,
  readActiveFreezeReason,
  recoverBranchBeforeMerge,
} from './merge-pull.ts'
import type {
  EvaluatedPullSnapshot,
  MergeOutcome,
  MergeOptions,
  PlannedMerge,
  MergeActionResult,
  MergeAttempt,
} from './merge-types.ts'
import { preparePushMerge, removeTemporaryBranch } from './push-merge.ts'
import { recoverMerge } from './recover-merges.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

export interface MergeBatchMember {
  readonly evaluated: EvaluatedPullSnapshot
  readonly permit: MergePermit
  /** The plan for merging this member alone. A batch uses the plan of its last member. */
  readonly planned: PlannedMerge
  /** catalog-bot's check runs. GitHub requires them only on the new tip, so only those of the last member are added. */
  readonly checks: readonly CheckRunContent[]
}

type BatchMergeOptions = Omit<MergeOptions, 'plan' | 'checks'>

export interface BatchMergeResult {
  /** A member without an outcome waits and is evaluated again on the new base. */
  readonly outcomes: ReadonlyMap<PullNumber, MergeOutcome>
  /** GitHub's message if it rejected the whole batch. It does not blame a single member. */
  readonly rejection?: string
}

/** Call this under the branch's lease. Rejects like mergePullUnderLease(), and leaves intents open. */
export async function mergePullBatch(
  members: readonly MergeBatchMember[],
  lease: Lease,
  options: BatchMergeOptions,
): Promise<BatchMergeResult> {
  const outcomes = new Map<PullNumber, MergeOutcome>()
  const able = await selectMergeableBatchMembers(members, options, outcomes)
  const last = able.at(-1)
  if (last === undefined) return { outcomes }
  const batch = able.map(({ permit }) => permit)
  const { checks, planned, permit } = last
  const { method } = planned.plan
  if (method?.kind !== 'push' || method.signed)
    throw new Error('a batch supports only the push method without signing')
  const plan = () => Promise.resolve(planned)
  const step: MergeAttempt = { ...planned, permit, batch, options: { ...options, plan, checks } }
  try {
    const prepared = await preparePushMerge(step, method)
    if (prepared.kind === 'refused') return { outcomes, rejection: prepared.reason }
    const stop = await readActiveFreezeReason(permit.merge, options)
    if (stop !== undefined) {
      for (const { merge } of batch) outcomes.set(merge.pull, { kind: 'again', why: stop })
      return { outcomes }
    }
    triggerCrashPoint('before-intent')
    const intents = await recordMergeIntents(batch, method, lease, options)
    if (intents.length < batch.length) {
      for (const intent of intents) await recoverMerge(intent, options, { heard: 'refused' })
      return { outcomes }
    }
    const acted = await prepared.act()
    triggerCrashPoint('pushed')
    await recoverBatchMerges(intents, acted, options, outcomes)
    return acted.kind === 'refused' ? { outcomes, rejection: acted.reason } : { outcomes }
  } finally {
    await removeTemporaryBranch(step)
  }
}

/** The members before the first one that cannot be merged. The reasons are in `outcomes`. */
async function selectMergeableBatchMembers(
  members: readonly MergeBatchMember[],
  options: BatchMergeOptions,
  outcomes: Map<PullNumber, MergeOutcome>,
): Promise<readonly MergeBatchMember[]> {
  for (const { permit } of members) {
    const before = await recoverBranchBeforeMerge(permit, options)
    if (before !== undefined) outcomes.set(permit.merge.pull, before)
  }
  const changed = await explainStaleMergePermitsInBatch(
    members.map(({ evaluated }) => evaluated),
    options.forge,
  )
  for (const [pull, why] of changed) if (!outcomes.has(pull)) outcomes.set(pull, { kind: 'again', why })
  for (const { evaluated, permit } of members) {
    const { pull } = permit.merge
    if (
      !outcomes.has(pull) &&
      !(await isPullUnchangedSinceEvaluation(evaluated, permit.merge, options.store))
    )
      outcomes.set(pull, { kind: 'again', why: pullChangedAndRevertedMessage })
  }
  const end = members.findIndex(({ permit }) => outcomes.has(permit.merge.pull))
  return end < 0 ? members : members.slice(0, end)
}

/** Records an intent for each member before the branch can change. Returns fewer if the lease was lost. */
async function recordMergeIntents(
  permits: readonly MergePermit[],
  method: MergeStrategy,
  lease: Lease,
  { store, clock }: BatchMergeOptions,
): Promise<readonly MergeIntent[]> {
  const intents: MergeIntent[] = []
  for (const { merge } of permits) {
    const intent = await store.startMerge(lease, { ...merge, method, begunAt: clock.now() })
    if (intent === undefined) return intents
    intents.push(intent)
    triggerCrashPoint('intent-written')
  }
  return intents
}

/** Reads the branch regardless of GitHub's response, once for all members if possible. */
async function recoverBatchMerges(
  intents: readonly MergeIntent[],
  acted: MergeActionResult,
  options: BatchMergeOptions,
  outcomes: Map<PullNumber, MergeOutcome>,
): Promise<void> {
  const heard = acted.kind === 'done' ? 'done' : 'refused'
  const isFetched = await isWholeBatchOnBranch(intents, options.repository)
  let enqueued: Promise<void> | undefined
  const onMerged = async (intent: MergeIntent) => await (enqueued ??= options.onMerged?.(intent))
  for (const intent of intents) {
    const settled = await recoverMerge(intent, { ...options, onMerged }, { heard, isFetched })
    triggerCrashPoint('audited')
    if (settled.kind === 'landed' || settled.kind === 'mismatch') outcomes.set(intent.pull, settled)
  }
}

/** Whether the branch contains the last pushed commit, and therefore all of them. */
async function isWholeBatchOnBranch(
  intents: readonly MergeIntent[],
  repository: GitRepository,
): Promise<boolean> {
  const last = intents.at(-1)
  if (last === undefined) return false
  await repository.fetch(last.baseRef)
  const tip = await repository.tip(last.baseRef)
  return tip !== undefined && (await catchMissing(repository.contains(tip, last.commit), false))
}
