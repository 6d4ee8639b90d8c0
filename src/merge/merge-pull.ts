// Merges one pull request. Each step survives a crash: the next process finds the intent and reads the result instead of
// retrying blindly (docs/dev/threats.md#t38 to T44).
import { toSortedJson } from '@catalog-bot/fbc/go/json/json'
import { formatFreeze, findActiveFreezes } from '../policy/merge-freeze.ts'
import { type MergeStrategy, formatMergeQueueRemoval } from '../policy/merge-strategy.ts'
import type { ValidatedMerge, MergePermit } from '../policy/merge-permit.ts'
import type { Lease } from '../ports/jobs.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
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
import type { PullNumber } from '../pull-request/ids.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { canMergeCloseOtherPulls, findPullsClosedByMerge } from '../evaluate/compare-trees.ts'
import type { Forge } from '../ports/forge.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import { memoizeOnce } from '@catalog-bot/findings/memoize'

type GitHubMergeStrategy = Extract<MergeStrategy, { kind: 'github-merge' }>

type MergeQueueStrategy = Extract<MergeStrategy, { kind: 'queue' }>

/**
 * Call this under the branch's lease. Rejects with a GitError or ForgeError if the outcome is unknown. The intent then
 * remains open for a later process.
 */
export async function mergePullUnderLease(
  evaluated: EvaluatedPullSnapshot,
  permit: MergePermit,
  lease: Lease,
  options: MergeOptions,
): Promise<MergeOutcome> {
  triggerCrashPoint('lease-taken')
  const before = await recoverBranchBeforeMerge(permit, options)
  if (before !== undefined) return before
  const step: MergeAttempt = { ...(await options.plan()), permit, options }
  const outcome = await mergeWithStrategy(step, evaluated, lease)
  const other = planRetryWithChecksOnMergeCommit(step, outcome)
  return other === undefined ? outcome : mergeWithStrategy(other, evaluated, lease)
}

async function mergeWithStrategy(
  step: MergeAttempt,
  evaluated: EvaluatedPullSnapshot,
  lease: Lease,
): Promise<MergeOutcome> {
  const { permit, options } = step
  try {
    // Also finds removals while the pull request waited, or during an earlier process.
    if (step.plan.method?.kind === 'queue') {
      const { removal, isNew } = await recordMergeQueueRemoval(permit.merge, options)
      if (isNew) return { kind: 'again', why: formatMergeQueueRemoval(removal) }
    }
    const prepared = await prepareMerge(step)
    if (prepared.kind === 'refused') return toMergeOutcome(prepared)
    const changed = await recheckPullBeforeMerge(prepared, evaluated, options)
    if (changed !== undefined) return { kind: 'again', why: changed }
    if (!(await isPullUnchangedSinceEvaluation(evaluated, permit.merge, options.store)))
      return { kind: 'again', why: pullChangedAndRevertedMessage }
    // Preparation can take minutes if checks must be on the merge.
    const stop = await readActiveFreezeReason(permit.merge, options)
    if (stop !== undefined) return { kind: 'again', why: stop }
    return await performMerge(prepared, permit, lease, options)
  } finally {
    await removeTemporaryBranch(step)
  }
}

/** A push verifies its base. GitHub's merge does not pin the base, so everything is read again. */
async function recheckPullBeforeMerge(
  { method }: PreparedMerge,
  evaluated: EvaluatedPullSnapshot,
  { forge }: MergeOptions,
): Promise<string | undefined> {
  if (method.kind !== 'push') return explainStaleMergePermit(evaluated, forge)
  return (await explainStaleMergePermitsInBatch([evaluated], forge)).get(evaluated.snapshot.pull)
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
  if (!outcome.rejection.retrySoon && outcome.rejection.isKnown) return undefined
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
export async function recoverBranchBeforeMerge(
  { merge }: MergePermit,
  options: MergeRecoveryOptions,
): Promise<MergeOutcome | undefined> {
  const { store } = options
  const all = await recoverMergesOnBranch(merge.repository, merge.baseRef, options)
  for (const { settled } of all) if (settled.kind === 'mismatch') return settled
  const stop = await readActiveFreezeReason(merge, options)
  if (stop !== undefined) return { kind: 'again', why: stop }
  const merged = await store.findMerge(merge.repository, merge.pull)
  if (merged?.head === merge.head) return { kind: 'landed', commit: merged.commit }
  // A push at the moment of the merge leaves the pull request open on GitHub, but it is merged only once.
  if (merged !== undefined)
    return toMergeOutcome({
      kind: 'refused',
      reason: `an earlier state of this pull request was merged as ${merged.commit.slice(0, 12)}; open another pull request for the later commits`,
      scope: 'pull',
    })
  const own = all.find(({ intent }) => intent.pull === merge.pull && intent.head === merge.head)
  // Another pull request that is being added to the queue does not block.
  const isBlocking = ({ intent, settled }: (typeof all)[number]) =>
    settled.kind === 'unclear' && (settled.isMerged === true || intent.method?.kind !== 'queue')
  if (own?.settled.kind === 'unclear' || all.some(isBlocking)) return { kind: 'busy' }
  if (own?.settled.kind === 'queued') return { kind: 'queued' }
  if (own?.settled.kind === 'abandoned' && own.intent.method?.kind === 'queue') {
    const { removal, isNew } = await recordMergeQueueRemoval(merge, options)
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
  { merge }: MergePermit,
  lease: Lease,
  options: MergeOptions,
): Promise<MergeOutcome> {
  const { store, clock } = options
  triggerCrashPoint('before-intent')
  const pendingMerge = { ...merge, commit, method, begunAt: clock.now() }
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
  const { reason, response, scope, commit, isSigned } = rejected
  if (response === undefined) {
    const rejection = { scope: scope ?? 'branch', reason, retrySoon: false, isKnown: true }
    return { kind: 'refused', rejection }
  }
  const rejection = classifyRejection(response, { commit, isSigned })
  // An unrecognized message does not affect the branch yet, regardless of its context.
  if (scope !== undefined && (scope === 'pull' || rejection.isKnown))
    return { kind: 'refused', rejection: { ...rejection, scope, reason, retrySoon: false } }
  return rejection.scope === 'race'
    ? { kind: 'again', why: rejection.reason }
    : { kind: 'refused', rejection }
}

/** Merges the validated head through GitHub's merge queue. The intent remains open until it leaves the queue. */
async function prepareQueueMerge(
  step: MergeAttempt,
  method: MergeQueueStrategy,
): Promise<MergePreparationResult> {
  return { kind: 'ready', method, commit: step.permit.merge.commit, act: () => enqueuePull(step) }
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
  const { base, head, commit } = permit.merge
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
  const { merge } = permit
  // As late as possible, because GitHub merges into the current base.
  await options.repository.fetch(merge.baseRef)
  if ((await options.repository.tip(merge.baseRef)) !== merge.base)
    return { kind: 'race', why: 'the base branch changed' }
  const answer = await options.merging.merge(permit, method, text)
  triggerCrashPoint('merge-asked')
  if (answer.kind !== 'refused') return answer
  return { ...toRejectedMergeAction(answer.rejection), commit: merge.commit }
}

function toRejectedMergeAction(response: MergeRejectionMessage) {
  const reason =
    response.by === 'rest' ? response.message : response.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, response } as const
}

/** Splits a commit message into GitHub's title and body. */
function splitCommitMessage(message: string): MergeCommitMessage {
  const [title = '', ...rest] = message.split('\n')
  return { title, body: rest.join('\n').trim() }
}

type PullSnapshotReader = Pick<Forge, 'readSnapshot' | 'openPulls'>

/** Why GitHub's state no longer matches the permit. Undefined if it does. */
async function explainStaleMergePermit(
  evaluated: EvaluatedPullSnapshot,
  forge: PullSnapshotReader,
  /** The base of a batch member is not on the branch yet, so it is not compared. */
  instead: Pick<PullSnapshot, 'base'> | Record<never, never> = {},
): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(evaluated.snapshot.pull, { skipCache: true })
  if (fresh === null || !areSnapshotsEquivalent({ ...fresh, ...instead }, evaluated.snapshot))
    return 'the pull request changed'
  return explainChangeInAutoClosedPulls(evaluated, forge)
}

/**
 * explainStaleMergePermit() for the pull requests of a batch. One request confirms the unchanged ones. The others are read one
 * by one. The push itself verifies the base.
 */
export async function explainStaleMergePermitsInBatch(
  members: readonly EvaluatedPullSnapshot[],
  forge: Forge,
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = await forge.findUnchanged?.(members.map(({ snapshot }) => snapshot))
  const source: PullSnapshotReader = {
    readSnapshot: (pull, how) => forge.readSnapshot(pull, how),
    // All share one request for the open pull requests.
    openPulls: memoizeOnce(() => forge.openPulls()),
  }
  const changed = new Map<PullNumber, string>()
  for (const evaluated of members) {
    const { snapshot } = evaluated
    const why = same?.has(snapshot.pull)
      ? await explainChangeInAutoClosedPulls(evaluated, source)
      : await explainStaleMergePermit(evaluated, source, { base: snapshot.base })
    if (why !== undefined) changed.set(snapshot.pull, why)
  }
  return changed
}

/**
 * Explains that the merge would close other pull requests than at the evaluation. Later changes go undetected, because
 * GitHub does not support such a condition for a push.
 */
async function explainChangeInAutoClosedPulls(
  { snapshot, incoming }: EvaluatedPullSnapshot,
  forge: PullSnapshotReader,
): Promise<string | undefined> {
  if (incoming === undefined || !canMergeCloseOtherPulls(incoming.commits)) return undefined
  const now = findPullsClosedByMerge(await forge.openPulls(), incoming.commits, snapshot)
  const facts = (affected: typeof now) =>
    JSON.stringify(affected.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(incoming.affected)
    ? undefined
    : 'the merge would now close different pull requests than when it was checked'
}

/**
 * Whether the pull request is still in the epoch in which it was evaluated. Comments on an earlier state do not count if
 * the pull request changed and changed back (docs/dev/threats.md#t21). Only changes that catalog-bot observed are known.
 */
export async function isPullUnchangedSinceEvaluation(
  { epoch, snapshot }: EvaluatedPullSnapshot,
  { config }: Pick<ValidatedMerge, 'config'>,
  store: Pick<PullHistoryStore, 'observe'>,
): Promise<boolean> {
  const { repository, pull, head, baseRef } = snapshot
  return epoch === undefined || (await store.observe(repository, pull, { head, baseRef, config })) === epoch
}

export const pullChangedAndRevertedMessage = 'the pull request changed and then changed back'

/** Whether two snapshots lead to the same verdict, ignoring the order of GitHub's lists. */
export function areSnapshotsEquivalent(a: PullSnapshot, b: PullSnapshot): boolean {
  // A database returns keys in another order.
  return toSortedJson(toComparableSnapshot(a)) === toSortedJson(toComparableSnapshot(b))
}

function toComparableSnapshot(snapshot: PullSnapshot) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...snapshot,
    labels: snapshot.labels.toSorted(),
    reviews: snapshot.reviews.toSorted(byId),
    // catalog-bot edits its comment while it works. Comments by people can be commands, so they must be unchanged.
    comments: snapshot.comments
      .filter(({ author }) => author?.kind === 'user')
      // GitHub's APIs can return two forms of a comment's global id.
      .map(({ node: _, ...comment }) => comment)
      .toSorted(byId),
  }
}
