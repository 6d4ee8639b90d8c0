// Recovers merges that were started: reads and records their results, and enqueues what follows a merge. Merges with
// an unclear result remain open.
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { MergeIntent, MergeFreezeStore } from '../ports/merge-records.ts'
import type { MergeApi } from '../ports/merge-api.ts'
import type { RecordedMergeOutcome, MergeTreeMismatch, MergeRecoveryOptions } from './merge-types.ts'
import { readMergeResult, type ObservedMergeResult, auditMerge } from './read-merge-result.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { updateTrackedIssue } from '../jobs/tracked-issue.ts'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import {
  renderTreeMismatchIssue,
  formatTreeMismatchMarker,
  renderRevertPullRequest,
  type TreeMismatchView,
  type RevertPullRequestView,
} from '../report/base-branch-issues.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import { toMergeLeaseName } from '../jobs/auto-renewing-lease.ts'
import { memoizeOnce } from '@catalog-bot/findings/memoize'

interface DetectedTreeMismatch {
  readonly intent: ValidatedMerge
  /** The branch's actual commit, if known. */
  readonly found?: CommitSha | undefined
  /** A sentence without a full stop. */
  readonly differs: string
}

/** GitHub abandons an API request after ten seconds, so it does not merge later than this. */
const delayedGitHubMergeTimeoutMs = 30_000
/** A merged commit that cannot be evaluated for this long counts as invalid. */
const mergedCommitValidationTimeoutMs = 600_000
/** Seconds in which GitHub normally delivers a push. The delivery's job and this one then run as one. */
const pushWebhookGraceSeconds = 1

export type MergeRecoveryResult =
  | { readonly kind: 'landed'; readonly commit: MergeIntent['commit'] }
  | { readonly kind: 'mismatch'; readonly mismatch: MergeTreeMismatch }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'queued' }
  /** GitHub may still be processing the merge. `isMerged`: it is on the branch but cannot be evaluated yet. */
  | { readonly kind: 'unclear'; readonly isMerged?: boolean }

export interface MergeRecoveryHints {
  /** The known result of the action. Absent if no response arrived. */
  readonly heard?: 'refused' | 'done'
  /** The branch was fetched after the action and contains the commit. */
  readonly isFetched?: boolean
}

/**
 * Recovers one intent. Under the branch's lease, only this process pushes. A pushed commit that is missing from the
 * branch can therefore arrive only through a push in progress, which merges exactly what was validated on its base. The
 * branch is read again before the next merge.
 */
export async function recoverMerge(
  intent: MergeIntent,
  options: MergeRecoveryOptions,
  how: MergeRecoveryHints = {},
): Promise<MergeRecoveryResult> {
  const { heard } = how
  const isQueue = intent.method?.kind === 'queue'
  // Reads the queue first, so that a merge in between is found below and not mistaken for a removal.
  if (isQueue && heard !== 'refused' && (await isPullInMergeQueue(intent, options))) return { kind: 'queued' }
  const observed = how.isFetched
    ? await readMergeResult(intent, options, true)
    : await readMergeResultWithRetries(intent, options, heard === 'done' && !isQueue)
  switch (observed.kind) {
    case 'landed':
      await recordMergeIntentOutcome(intent, options, 'landed', observed.commit)
      return observed
    case 'mismatch': {
      // GitHub rejected catalog-bot's merge, so someone else merged it. That merge is evaluated as a push.
      if (heard === 'refused') return recordAbandonedMerge(intent, options)
      return recoverMergeOnUnvalidatedBase(intent, observed, options)
    }
    case 'absent':
      break
  }
  if (isQueue && heard === 'done') return { kind: 'queued' }
  if (heard === 'done')
    return recordMergeTreeMismatch(
      { intent, differs: `GitHub reported the merge, but ${intent.baseRef} does not contain it` },
      options,
    )
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < delayedGitHubMergeTimeoutMs
  if (heard === undefined && observed.isOpen && isFresh) return { kind: 'unclear' }
  return recordAbandonedMerge(intent, options)
}

/** Evaluates a merge by GitHub on another base. It is invalid unless the evaluation passes. */
async function recoverMergeOnUnvalidatedBase(
  intent: MergeIntent,
  { commit, onto, differs }: Extract<ObservedMergeResult, { kind: 'mismatch' }>,
  options: MergeRecoveryOptions,
): Promise<MergeRecoveryResult> {
  const unjudged = { kind: 'invalid', reasons: [] } as const
  const verdict =
    onto === undefined ? unjudged : ((await options.auditMerge?.(intent, onto, commit)) ?? unjudged)
  if (verdict.kind === 'valid') {
    await recordMergeIntentOutcome(intent, options, 'landed', commit)
    return { kind: 'landed', commit }
  }
  const isFresh = options.clock.now() - (intent.begunAt ?? 0) < mergedCommitValidationTimeoutMs
  if (verdict.kind === 'unknown' && isFresh) return { kind: 'unclear', isMerged: true }
  const why = [differs, ...verdict.reasons].join('; ')
  return recordMergeTreeMismatch({ intent, found: commit, differs: why }, options)
}

async function isPullInMergeQueue(
  { baseRef, pull, head }: MergeIntent,
  { merging }: MergeRecoveryOptions,
): Promise<boolean> {
  return (await merging.readMergeQueue(baseRef)).some((entry) => entry.pull === pull && entry.head === head)
}

/** Retries until the merge is visible on GitHub's servers, which are eventually consistent. */
async function readMergeResultWithRetries(
  intent: MergeIntent,
  options: MergeRecoveryOptions,
  isDone: boolean,
): Promise<ObservedMergeResult> {
  for (const pause of isDone ? [500, 1000, 2000] : []) {
    const observed = await readMergeResult(intent, options)
    if (observed.kind !== 'absent') return observed
    await options.clock.sleep(pause)
  }
  return readMergeResult(intent, options)
}

async function recordMergeTreeMismatch(
  mismatch: MergeTreeMismatch,
  options: MergeRecoveryOptions,
): Promise<MergeRecoveryResult> {
  await options.onMismatch(mismatch)
  await recordMergeIntentOutcome(mismatch.intent, options, 'mismatch', mismatch.found)
  return { kind: 'mismatch', mismatch }
}

/**
 * Recovers all merges that were started on a branch, and returns their results. Call it under the branch's lease, because
 * another holder's push may be in progress.
 */
export async function recoverMergesOnBranch(
  name: RepositoryName,
  branch: string,
  options: MergeRecoveryOptions,
): Promise<readonly { readonly intent: MergeIntent; readonly settled: MergeRecoveryResult }[]> {
  const intents = (await options.store.listPendingMerges(name)).filter(({ baseRef }) => baseRef === branch)
  const merging: MergeApi = {
    ...options.merging,
    // All share one request for the queue.
    readMergeQueue: memoizeOnce(() => options.merging.readMergeQueue(branch)),
  }
  const all: { intent: MergeIntent; settled: MergeRecoveryResult }[] = []
  for (const intent of intents)
    all.push({ intent, settled: await recoverMerge(intent, { ...options, merging }) })
  return all
}

async function recordAbandonedMerge(
  intent: MergeIntent,
  options: MergeRecoveryOptions,
): Promise<MergeRecoveryResult> {
  await recordMergeIntentOutcome(intent, options, 'abandoned')
  return { kind: 'abandoned' }
}

async function recordMergeIntentOutcome(
  intent: MergeIntent,
  { store, onMerged, onEnded }: MergeRecoveryOptions,
  outcome: RecordedMergeOutcome,
  commit?: MergeIntent['commit'],
): Promise<void> {
  if (outcome === 'landed') await onMerged?.(intent)
  // A concurrent reader may have recorded the same outcome. Counts it only once.
  if (await store.finishMerge(intent, outcome, commit)) onEnded?.(outcome)
}

export function createMergeRecoveryOptions(
  ctx: JobContext<Store>,
): MergeRecoveryOptions & { readonly leaseSeconds: number } {
  const { repository, merging, app } = ctx
  const { store, clock } = app
  return {
    repository,
    merging,
    store,
    clock,
    leaseSeconds: app.settings.leaseSeconds,
    auditMerge: (intent, base, commit) => auditMerge(intent, base, commit, ctx),
    onMerged: ({ repository: name, baseRef }) =>
      store.enqueue(
        { kind: 'branch', installation: ctx.installation, repository: name, branch: baseRef },
        pushWebhookGraceSeconds,
      ),
    onMismatch: (mismatch) => reportTreeMismatch(mismatch, ctx),
    onEnded: (outcome) => app.metrics.landings.inc({ outcome }),
  }
}

/** Rejects with a retryable ForgeError after the branch is frozen. GitHub's rejections are logged. */
async function reportTreeMismatch(
  { intent, found, differs }: DetectedTreeMismatch,
  ctx: JobContext<MergeFreezeStore>,
): Promise<void> {
  const { app, forge } = ctx
  const { repository, pull, baseRef: branch, base, head, commit, tree } = intent
  await app.store.freezeMerges({
    repository,
    branch,
    kind: 'audit',
    reason: `pull request ${pull}: ${differs}`,
    by: { kind: 'bot' },
    pull,
    commit,
  })
  app.log.error(
    { repository, branch, pull, commit, found, differs },
    'a branch does not match the merge result that catalog-bot checked',
  )
  const mismatch: TreeMismatchView = {
    repository: `${repository.owner}/${repository.name}`,
    pull,
    branch,
    base,
    head,
    commit,
    tree,
    found,
    differs,
  }
  try {
    const revert = await openRevertPullRequest(mismatch, ctx)
    const desired = renderTreeMismatchIssue(mismatch, revert)
    await updateTrackedIssue(
      {
        marker: formatTreeMismatchMarker(mismatch),
        desired,
        whenClosed: (shown) => (shown?.body === desired.body ? 'nothing' : 'edit'),
      },
      forge,
    )
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.error(
      { err: error, repository, branch },
      'GitHub rejected the issue about a failed merge verification',
    )
  }
}

/** Opens a pull request on the current tip with the tree before the merge. */
async function openRevertPullRequest(
  mismatch: TreeMismatchView,
  { repository, forge }: JobContext,
): Promise<RevertPullRequestView> {
  const { branch, base, commit } = mismatch
  await repository.fetch(branch)
  const tip = await repository.tip(branch)
  if (tip === undefined) return { kind: 'none', why: 'the branch does not exist' }
  const tree = await repository.treeOf(base)
  if (tree === (await repository.treeOf(tip)))
    return { kind: 'none', why: 'the branch already matches its state before the merge' }
  if (!(await repository.contains(tip, base)))
    return { kind: 'none', why: 'the branch does not contain the commit that was its tip before the merge' }
  const undone = (await repository.firstParents(tip, base)).length
  try {
    const { pull } = await forge.perform({
      kind: 'propose-tree',
      branch: `catalog-bot/revert-${commit.slice(0, 12)}`,
      base: branch,
      parent: tip,
      tree,
      ...renderRevertPullRequest(mismatch, undone),
    })
    return pull === undefined
      ? { kind: 'none', why: 'GitHub did not return a pull request' }
      : { kind: 'offered', pull }
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    return { kind: 'none', why: error.message }
  }
}

/** Whether a process is pushing this pull request. That process records the outcome, and enqueues the report. */
export async function isPullBeingPushed(
  name: RepositoryName,
  pull: PullNumber,
  { store, leaseSeconds }: Pick<MergeRecoveryOptions, 'store'> & { readonly leaseSeconds: number },
): Promise<boolean> {
  for (const intent of await store.listPendingMerges(name)) {
    if (intent.pull !== pull || (intent.method?.kind ?? 'push') !== 'push') continue
    const lease = await store.acquireLease(toMergeLeaseName(name, intent.baseRef), leaseSeconds)
    if (lease === undefined) return true
    await store.releaseLease(lease)
  }
  return false
}

/**
 * Returns false if a merge is still open: another process holds the lease on the branch, or GitHub may still be processing the
 * merge. Ignores pull requests in a merge queue. Rejects with a GitError, ForgeError, or StoreError.
 */
export async function recoverMergesOfPull(
  name: RepositoryName,
  pull: PullNumber,
  options: MergeRecoveryOptions & { readonly leaseSeconds: number },
): Promise<boolean> {
  const { store, leaseSeconds } = options
  const openIntents = (await store.listPendingMerges(name)).filter(
    (intent) => intent.pull === pull && intent.method?.kind !== 'queue',
  )
  let isAll = true
  for (const branch of new Set(openIntents.map(({ baseRef }) => baseRef))) {
    const lease = await store.acquireLease(toMergeLeaseName(name, branch), leaseSeconds)
    if (lease === undefined) {
      isAll = false
      continue
    }
    try {
      // Reads again under the lease, because its previous holder may have recovered some merges or started another.
      for (const intent of await store.listPendingMerges(name))
        if (intent.pull === pull && intent.baseRef === branch && intent.method?.kind !== 'queue')
          if ((await recoverMerge(intent, options)).kind === 'unclear') isAll = false
    } finally {
      await store.releaseLease(lease)
    }
  }
  return isAll
}
