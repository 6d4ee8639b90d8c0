// Reads the result of a merge: whether the pull request is on the branch, and whether that commit was validated
// (docs/dev/threats.md#t38 and T39). A merge by GitHub on another base is evaluated again.
import { readMergeGroupByMergedCommit } from './merge-queue-state.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import type { MergeMethod } from '../policy/branch-rules.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { MergeIntent } from '../ports/merge-records.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import type { MergeRecoveryOptions } from './merge-types.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import { GitError, catchMissing } from '../adapters/git/git-error.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import type { MergedCommitVerdict } from '../policy/verdict.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { evaluateInWorker } from '../evaluate/evaluate-in-worker.ts'
import { toVerdictRecord } from '../evaluate/publish-evaluation.ts'

/** Seconds between attempts to evaluate a commit. */
const mergeAuditRetrySeconds = 30

/** If lost, the commit is evaluated again sooner. */
const inconclusiveMergeAuditCache = defineCacheNamespace<readonly string[]>(
  'merged commit not judged',
  1,
  (stored) => (Array.isArray(stored) ? stored.map(String) : undefined),
)

export type ObservedMergeResult =
  /** On the branch, as validated. */
  | { readonly kind: 'landed'; readonly commit: CommitSha }
  /** The commit on the branch was not validated. `onto`: the base of a real merge of the validated head. */
  | {
      readonly kind: 'mismatch'
      readonly commit: CommitSha
      readonly differs: string
      readonly onto?: CommitSha | undefined
    }
  /** Not on the branch. `isOpen`: the validated head can still be merged. */
  | { readonly kind: 'absent'; readonly isOpen: boolean }

/** `isFetched`: the branch was just fetched. */
export async function readMergeResult(
  intent: MergeIntent,
  options: MergeRecoveryOptions,
  isFetched = false,
): Promise<ObservedMergeResult> {
  const { repository } = options
  const method = intent.method ?? { kind: 'push', checksFirst: false, signed: false }
  // Queries GitHub first, so that the commit it names can be fetched.
  const outcome = method.kind === 'push' ? undefined : await options.merging.readMergeState(intent.pull)
  if (!isFetched) await repository.fetch(intent.baseRef)
  triggerCrashPoint('fetched-for-audit')
  const tip = await repository.tip(intent.baseRef)
  const commit = method.kind === 'push' ? intent.commit : outcome?.merged
  // A commit that is missing locally cannot be on a branch that was just fetched.
  const isOnBranch =
    tip !== undefined && commit !== undefined && (await catchMissing(repository.contains(tip, commit), false))
  if (!isOnBranch) return { kind: 'absent', isOpen: outcome?.isOpen === true && outcome.head === intent.head }
  const differs = await describeMergedCommitDifference(intent, commit, options)
  if (differs === undefined) return { kind: 'landed', commit }
  const onto =
    method.kind === 'push' ? undefined : await findBaseCommitOfGitHubMerge(intent, commit, repository)
  return { kind: 'mismatch', commit, differs, onto }
}

/** Describes how a merged commit differs from the validated one. Undefined if it does not differ. */
async function describeMergedCommitDifference(
  intent: MergeIntent,
  commit: CommitSha,
  options: MergeRecoveryOptions,
): Promise<string | undefined> {
  const { repository } = options
  const { method } = intent
  if (method?.kind === 'queue') {
    const group = await readMergeGroupByMergedCommit(intent, commit, options)
    return group === undefined ? `no validated merge queue group contains ${commit}` : undefined
  }
  const tree = await repository.treeOf(commit)
  if (tree !== intent.tree) return `${commit} has the tree ${tree}, but the validated tree is ${intent.tree}`
  const isExpected = await hasExpectedMergeParents(
    repository,
    intent,
    commit,
    method?.kind === 'github-merge' ? method.method : 'merge',
  )
  return isExpected
    ? undefined
    : `${commit} is not based on ${intent.base}, the base on which it was validated`
}

/** The base into which GitHub merged the validated head exactly as catalog-bot would. Undefined if the merge differs. */
export async function findBaseCommitOfGitHubMerge(
  intent: Pick<MergeIntent, 'base' | 'head' | 'method'>,
  commit: CommitSha,
  repository: GitRepository,
): Promise<CommitSha | undefined> {
  const { head, method } = intent
  const [first, second, ...others] = await repository.parentsOf(commit)
  if (first === undefined || others.length > 0 || (second !== undefined && second !== head)) return undefined
  const isOne = second !== undefined || (method?.kind === 'github-merge' && method.method !== 'rebase')
  const onto = isOne ? first : await findBaseCommitOfRebaseOrSquash(intent, commit, repository)
  if (onto === undefined || (await repository.contains(onto, head))) return undefined
  const merged = await repository.merge(onto, head, 'Merge\n')
  return merged.kind === 'clean' && merged.tree === (await repository.treeOf(commit)) ? onto : undefined
}

/**
 * The base of a rebase, or of a squash by the queue. A rebase preserves messages, so a parent with one of the head's
 * messages belongs to the rebase and must also be evaluated.
 */
async function findBaseCommitOfRebaseOrSquash(
  { base, head, method }: Pick<MergeIntent, 'base' | 'head' | 'method'>,
  commit: CommitSha,
  repository: GitRepository,
): Promise<CommitSha | undefined> {
  const { isWhole, commits } = await repository.readIncomingCommits(base, head)
  if (!isWhole) return undefined
  const messages: string[] = []
  for (const { id } of commits)
    // GitHub omits merge commits.
    if ((await repository.parentsOf(id)).length === 1) messages.push((await repository.messageOf(id)).trim())
  let at = commit
  for (let steps = 1; steps <= messages.length; steps++) {
    const [parent, ...others] = await repository.parentsOf(at)
    if (parent === undefined || others.length > 0) return undefined
    at = parent
    const isBelow = !messages.includes((await repository.messageOf(parent)).trim())
    if (isBelow)
      return steps === messages.length || (steps === 1 && method?.kind === 'queue') ? at : undefined
  }
  return undefined
}

/** GitHub rebases at most this many commits. */
const maxRebasedCommits = 100

/** Whether a commit has the parents that the method gives it on the validated base. */
async function hasExpectedMergeParents(
  repository: GitRepository,
  { base, head }: MergeIntent,
  commit: CommitSha,
  method: MergeMethod,
): Promise<boolean> {
  const parents = await repository.parentsOf(commit)
  switch (method) {
    case 'merge':
      return parents.length === 2 && parents[0] === base && parents[1] === head
    case 'squash':
      return parents.length === 1 && parents[0] === base
    case 'rebase': {
      let chain = parents
      for (let steps = 0; steps < maxRebasedCommits; steps++) {
        const [parent] = chain
        if (parent === undefined || chain.length !== 1) return false
        if (parent === base) return true
        chain = await repository.parentsOf(parent)
      }
      return false
    }
  }
}

/**
 * Evaluates a pull request that GitHub merged onto a different base than the validated one. GitHub's merge does not pin
 * the base, so a push can come in between. The real base's configuration and owners apply. `base` is the real parent of
 * `commit`. Rejects with a StoreError.
 */
export async function auditMerge(
  mergedPull: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  commit: CommitSha,
  ctx: JobContext<Store>,
): Promise<MergedCommitVerdict> {
  const { store, log } = ctx.app
  const before = (await store.getCached(inconclusiveMergeAuditCache, [commit])).get(commit)
  if (before !== undefined) return { kind: 'unknown', reasons: before }
  const verdict = await evaluateMergedPull(mergedPull, base, ctx).catch(
    (error: unknown): MergedCommitVerdict => {
      if (!(error instanceof ForgeError || error instanceof GitError)) throw error
      return { kind: 'unknown', reasons: [error.message] }
    },
  )
  log.warn(
    { pull: mergedPull.pull, base, commit, ...verdict },
    'GitHub merged a pull request onto a different base commit than the one that catalog-bot checked',
  )
  if (verdict.kind === 'unknown')
    await store.putCached(
      inconclusiveMergeAuditCache,
      new Map([[commit, verdict.reasons]]),
      mergeAuditRetrySeconds,
    )
  return verdict
}

async function evaluateMergedPull(
  { pull, baseRef, head }: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'head'>,
  base: CommitSha,
  ctx: JobContext<Store>,
): Promise<MergedCommitVerdict> {
  const { app, forge, repository } = ctx
  const snapshot = await forge.readSnapshot(pull, { skipCache: true })
  if (snapshot === null) return { kind: 'unknown', reasons: ['GitHub does not find the pull request'] }
  if (snapshot.head !== head || snapshot.baseRef !== baseRef)
    return { kind: 'invalid', reasons: ['the pull request no longer matches the merged commit'] }
  await repository.fetch(baseRef, pull)
  const evaluation = await evaluateInWorker({ ...snapshot, state: 'open', base }, ctx, undefined, {
    isMerged: true,
  })
  await app.store.recordVerdict(toVerdictRecord(evaluation, app.clock.now()))
  const { kind, reasons } = evaluation.verdict
  if (kind === 'merge') return { kind: 'valid' }
  return { kind: kind === 'unknown' ? 'unknown' : 'invalid', reasons: reasons.map(({ text }) => text) }
}
