// Merges one pull request. Each step survives a crash: the next process finds the intent and reads the result instead of
// retrying blindly (docs/dev/threats.md#t38 to T44).
import { formatFreeze, findActiveFreezes } from '../policy/merge-freeze.ts'
import { type MergeStrategy, formatMergeQueueRemoval } from '../policy/merge-strategy.ts'
import type { ValidatedMerge, MergePermit } from '../policy/merge-permit.ts'
import type { Lease } from '../ports/jobs.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import {
  isPullUnchangedSinceEvaluation,
  pullChangedAndRevertedMessage,
  explainStaleMergePermit,
  explainStaleMergePermitsInBatch,
} from './stale-merge-permit.ts'
import type {
  EvaluatedPullSnapshot,
  MergeOptions,
  MergeOutcome,
  MergeRecoveryOptions,
  RejectedMerge,
  MergePreparationResult,
  PreparedMerge,
  MergeAttempt,
  MergeActionResult,
} from './merge-types.ts'
import { preparePushMerge, removeTemporaryBranch } from './push-merge.ts'
import { recordMergeQueueRemoval } from '../evaluate/merge-plan-input.ts'
import { recoverMerge, recoverMergesOnBranch } from './recover-merges.ts'
import { classifyRejection } from './classify-rejection.ts'
import { requiresUpToDateHead } from '../policy/branch-rules.ts'
import type { MergeCommitMessage, MergeRejectionMessage } from '../ports/merge-api.ts'

type GitHubMergeStrategy = Extract<MergeStrategy, { kind: 'github-merge' }>

type MergeQueueStrategy = Extract<MergeStrategy, { kind: 'queue' }>

/**
 * Call this under the branch's lease. Rejects with a GitError or ForgeError if the outcome is unknown. The intent then
 * remains open for a later process.
 */
export async function mergePullUnderLease(
  examined: EvaluatedPullSnapshot,
  permit: MergePermit,
  lease: Lease,
  options: MergeOptions,
): Promise<MergeOutcome> {
  triggerCrashPoint('lease-taken')
  const before = await recoverPendingMerges(permit, options)
  if (before !== undefined) return before
  const step: MergeAttempt = { ...(await options.plan()), permit, options }
  const outcome = await mergeWithStrategy(step, examined, lease)
  const other = planRetryWithChecksOnMergeCommit(step, outcome)
  return other === undefined ? outcome : mergeWithStrategy(other, examined, lease)
}

async function mergeWithStrategy(
  step: MergeAttempt,
  examined: EvaluatedPullSnapshot,
  lease: Lease,
): Promise<MergeOutcome> {
  const { permit, options } = step
  try {
    // Also finds removals while the pull request waited, or during an earlier process.
    if (step.plan.method?.kind === 'queue') {
      const { removal, isNew } = await recordMergeQueueRemoval(permit.landing, options)
      if (isNew) return { kind: 'again', why: formatMergeQueueRemoval(removal) }
    }
    const prepared = await prepareMerge(step)
    if (prepared.kind === 'refused') return toMergeOutcome(prepared)
    const changed = await recheckPullBeforeMerge(prepared, examined, options)
    if (changed !== undefined) return { kind: 'again', why: changed }
    if (!(await isPullUnchangedSinceEvaluation(examined, permit.landing, options.store)))
      return { kind: 'again', why: pullChangedAndRevertedMessage }
    // Preparation can take minutes if checks must be on the merge.
    const stop = await readActiveFreezeReason(permit.landing, options)
    if (stop !== undefined) return { kind: 'again', why: stop }
    return await performMerge(prepared, permit, lease, options)
  } finally {
    await removeTemporaryBranch(step)
  }
}

/** A push verifies its base. GitHub's merge does not pin the base, so everything is read again. */
async function recheckPullBeforeMerge(
  { method }: PreparedMerge,
  examined: EvaluatedPullSnapshot,
  { forge }: MergeOptions,
): Promise<string | undefined> {
  if (method.kind !== 'push') return explainStaleMergePermit(examined, forge)
  return (await explainStaleMergePermitsInBatch([examined], forge)).get(examined.snapshot.pull)
}

/**
 * GitHub documents that the checks of a head that contains its base count for the merge. If a server requires checks on
 * the merge anyway, they are added there.
 */
function planRetryWithChecksOnMergeCommit(
  step: MergeAttempt,
  outcome: MergeOutcome,
): MergeAttempt | undefined {
  const { plan, rules, options } = step
  const { method } = plan
  if (outcome.kind !== 'refused') return undefined
  // An unrecognized rejection can mean the same.
  if (!outcome.refusal.retrySoon && outcome.refusal.isKnown) return undefined
  if (method?.kind !== 'push' || method.checksFirst) return undefined
  const own = new Set(options.checks.map(({ name }) => name))
  const required = rules?.checks.required ?? []
  if (required.length === 0 || required.some(({ name }) => !own.has(name))) return undefined
  return { ...step, plan: { ...plan, method: { ...method, checksFirst: true } } }
}

export async function readActiveFreezeReason(
  { repository, baseRef }: ValidatedMerge,
  { store, clock }: Pick<MergeRecoveryOptions, 'store' | 'clock'>,
): Promise<string | undefined> {
  const [stop] = findActiveFreezes(await store.listFreezes(repository), baseRef, clock.now())
  return stop && formatFreeze(stop)
}

/** An earlier merge that is unfinished, or whose outcome must be reported first. */
export async function recoverPendingMerges(
  { landing }: MergePermit,
  options: MergeRecoveryOptions,
): Promise<MergeOutcome | undefined> {
  const { store } = options
  const all = await recoverMergesOnBranch(landing.repository, landing.baseRef, options)
  for (const { settled } of all) if (settled.kind === 'mismatch') return settled
  const stop = await readActiveFreezeReason(landing, options)
  if (stop !== undefined) return { kind: 'again', why: stop }
  const merged = await store.findMerge(landing.repository, landing.pull)
  if (merged?.head === landing.head) return { kind: 'landed', commit: merged.commit }
  // A push at the moment of the merge leaves the pull request open on GitHub, but it is merged only once.
  if (merged !== undefined)
    return toMergeOutcome({
      kind: 'refused',
      reason: `an earlier state of this pull request was merged as ${merged.commit.slice(0, 12)}; open another pull request for the later commits`,
      scope: 'pull',
    })
  const own = all.find(({ intent }) => intent.pull === landing.pull && intent.head === landing.head)
  // Another pull request that is being added to the queue does not block.
  const isBlocking = ({ intent, settled }: (typeof all)[number]) =>
    settled.kind === 'unclear' && (settled.isMerged === true || intent.method?.kind !== 'queue')
  if (own?.settled.kind === 'unclear' || all.some(isBlocking)) return { kind: 'busy' }
  if (own?.settled.kind === 'queued') return { kind: 'queued' }
  if (own?.settled.kind === 'abandoned' && own.intent.method?.kind === 'queue') {
    const { removal, isNew } = await recordMergeQueueRemoval(landing, options)
    if (isNew) return { kind: 'again', why: formatMergeQueueRemoval(removal) }
    return toMergeOutcome({ kind: 'refused', reason: formatMergeQueueRemoval(removal), scope: 'pull' })
  }
  return undefined
}

async function prepareMerge(step: MergeAttempt): Promise<MergePreparationResult> {
  const { method } = step.plan
  switch (method?.kind) {
    case undefined:
      return {
        kind: 'refused',
        reason: step.plan.missing?.join('; ') ?? 'GitHub would not accept any merge method',
        scope: step.shutFor ?? 'branch',
      }
    case 'push':
      return preparePushMerge(step, method)
    case 'github-merge':
      return prepareGitHubMerge(step, method)
    case 'queue':
      return prepareQueueMerge(step, method)
  }
}

/** Records the intent, performs the merge, and reads the outcome. */
async function performMerge(
  { method, commit, act }: PreparedMerge,
  { landing }: MergePermit,
  lease: Lease,
  options: MergeOptions,
): Promise<MergeOutcome> {
  const { store, clock } = options
  triggerCrashPoint('before-intent')
  const pendingMerge = { ...landing, commit, method, begunAt: clock.now() }
  const intent = await store.startMerge(lease, pendingMerge)
  if (intent === undefined) return { kind: 'again', why: 'catalog-bot lost the lease on the branch' }
  triggerCrashPoint('intent-written')
  const acted = await act()
  triggerCrashPoint('pushed')
  // GitHub has reported failure after updating a branch, so the branch is always read.
  const settled = await recoverMerge(intent, options, { heard: acted.kind === 'done' ? 'done' : 'refused' })
  triggerCrashPoint('audited')
  switch (settled.kind) {
    case 'landed':
    case 'mismatch':
    case 'queued':
      return settled
    case 'unclear':
      return { kind: 'busy' }
    case 'abandoned':
      if (acted.kind === 'refused') return toMergeOutcome(acted)
      return {
        kind: 'again',
        why: acted.kind === 'race' ? acted.why : 'the merge queue removed the pull request',
      }
  }
}

/** Converts a rejection to an outcome. Classifies GitHub's message by scope, unless the caller already knows the scope. */
export function toMergeOutcome(rejected: RejectedMerge): MergeOutcome {
  const { reason, words, scope, commit, isSigned } = rejected
  if (words === undefined) {
    const rejection = { scope: scope ?? 'branch', reason, retrySoon: false, isKnown: true }
    return { kind: 'refused', refusal: rejection }
  }
  const rejection = classifyRejection(words, { commit, isSigned })
  // An unrecognized message does not affect the branch yet, regardless of its context.
  if (scope !== undefined && (scope === 'pull' || rejection.isKnown))
    return { kind: 'refused', refusal: { ...rejection, scope, reason, retrySoon: false } }
  return rejection.scope === 'race'
    ? { kind: 'again', why: rejection.reason }
    : { kind: 'refused', refusal: rejection }
}

/** Merges the validated head through GitHub's merge queue. The intent remains open until it leaves the queue. */
async function prepareQueueMerge(
  step: MergeAttempt,
  method: MergeQueueStrategy,
): Promise<MergePreparationResult> {
  return { kind: 'ready', method, commit: step.permit.landing.commit, act: () => enqueuePull(step) }
}

async function enqueuePull({ permit, options }: MergeAttempt): Promise<MergeActionResult> {
  const answer = await options.merging.enqueue(permit)
  triggerCrashPoint('enqueued')
  if (answer.kind !== 'refused') return answer
  return toRejectedMergeAction(answer.rejection)
}

/** Merges with GitHub's API where a push cannot work. GitHub pins only the head, so read-merge-result.ts compares the result. */
async function prepareGitHubMerge(
  step: MergeAttempt,
  method: GitHubMergeStrategy,
): Promise<MergePreparationResult> {
  const { permit, options, rules } = step
  const { base, head, commit } = permit.landing
  if (rules !== undefined && requiresUpToDateHead(rules) && !(await options.repository.contains(head, base)))
    return {
      kind: 'refused',
      reason:
        'the branch accepts only pull requests that contain its latest commit; update this pull request',
      scope: 'pull',
    }
  const text = splitCommitMessage(await options.repository.messageOf(commit))
  return { kind: 'ready', method, commit, act: () => requestGitHubMerge(step, method, text) }
}

async function requestGitHubMerge(
  { permit, options }: MergeAttempt,
  { method }: GitHubMergeStrategy,
  text: MergeCommitMessage,
): Promise<MergeActionResult> {
  const { landing } = permit
  // As late as possible, because GitHub merges into the current base.
  await options.repository.fetch(landing.baseRef)
  if ((await options.repository.tip(landing.baseRef)) !== landing.base)
    return { kind: 'race', why: 'the base branch changed' }
  const answer = await options.merging.merge(permit, method, text)
  triggerCrashPoint('merge-asked')
  if (answer.kind !== 'refused') return answer
  return { ...toRejectedMergeAction(answer.rejection), commit: landing.commit }
}

function toRejectedMergeAction(words: MergeRejectionMessage) {
  const reason = words.by === 'rest' ? words.message : words.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words } as const
}

/** Splits a commit message into GitHub's title and body. */
function splitCommitMessage(message: string): MergeCommitMessage {
  const [title = '', ...rest] = message.split('\n')
  return { title, body: rest.join('\n').trim() }
}
