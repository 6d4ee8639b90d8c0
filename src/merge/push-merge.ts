// Merges with a compare-and-swap push of the validated merge or of GitHub's signed copy. Required checks are first
// added to that commit on a temporary branch, which only this file removes.
import { checkDefinitions as allChecks } from '@catalog-bot/findings/checks'
import { z } from 'zod'
import { type CommitSha, toCommitSha } from '../pull-request/ids.ts'
import type { SignedCommit, MergeApi } from '../ports/merge-api.ts'
import { requiresTestMergeTree } from '../policy/branch-rules.ts'
import {
  type MergeStrategy,
  formatTemporaryBranchName,
  parseTemporaryBranchName,
  temporaryBranchPrefix,
} from '../policy/merge-strategy.ts'
import type { MergePermit, ValidatedMerge } from '../policy/merge-permit.ts'
import type { MergePushResult, GitRepository } from '../ports/repository.ts'
import { toPrefixedCheckNames } from '../report/report-options.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { publishMissingCheckRuns } from '../jobs/publish-report.ts'
import type { RejectedMerge, MergeActionResult, MergePreparationResult, MergeAttempt } from './merge-types.ts'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { LeaseStore } from '../ports/jobs.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import { toMergeLeaseName } from '../jobs/auto-renewing-lease.ts'

/** How often a repository without recent temporary branches is checked. */
const stagingBranchUseCacheSeconds = 3600

const stagingBranchUseCacheNamespace = defineCacheNamespace<'used' | 'clean'>(
  'temporary branches',
  1,
  (stored) => (stored === 'used' || stored === 'clean' ? stored : undefined),
)

/** Commits on temporary branches, newest first, keyed by base branch. The lease on the base branch guards them. */
const stagedCommitsStateNamespace = defineStateNamespace<readonly StagedCommit[]>(
  'staged commits',
  1,
  z.array(z.object({ branch: z.string(), commit: z.string() })),
)

/** A branch that catalog-bot created, with a commit that it added. */
type StagedCommit = { readonly branch: string; readonly commit: string }

const maxStagedCommits = 50

type StagedMerge = Pick<ValidatedMerge, 'repository' | 'pull' | 'baseRef' | 'commit'>

interface StagingBranchCleanupContext {
  readonly merging: MergeApi
  readonly repository: Pick<GitRepository, 'deleteStagingBranch'>
  readonly store: Cache & LeaseStore & StateStore
  readonly leaseSeconds: number
}

type PushMergeStrategy = Extract<MergeStrategy, { kind: 'push' }>

/** GitHub can take a second to recognize new checks. bors-ng and other bots also wait. */
const checkRunVisibilityTimeoutMs = 10_000
const initialPushRetryPauseMs = 250

export async function preparePushMerge(
  step: MergeAttempt,
  method: PushMergeStrategy,
): Promise<MergePreparationResult> {
  const { permit, options, rules } = step
  const { merge } = permit
  const isCompared = step.plan.needsGitHubsTree ?? (rules !== undefined && requiresTestMergeTree(rules))
  const other = isCompared ? await findTestMergeMismatch(merge, options.repository) : undefined
  if (other !== undefined) return other
  let { commit } = merge
  if (requiresStagingBranch(method)) {
    await recordStagedCommit(merge, commit, options.store)
    let staged = await options.repository.createStagingBranch(permit)
    if (staged.kind === 'taken') {
      // An earlier attempt at this merge may have left the branch.
      await removeStagingBranch(merge, formatTemporaryBranchName(merge), options)
      await recordStagedCommit(merge, commit, options.store)
      staged = await options.repository.createStagingBranch(permit)
    }
    if (staged.kind === 'taken')
      return {
        kind: 'refused',
        reason: `the branch ${formatTemporaryBranchName(merge)} exists but was not created by catalog-bot; delete or rename it`,
        scope: 'pull',
      }
    if (staged.kind === 'refused')
      return {
        ...toRejectedMerge(staged, commit, false),
        reason: `GitHub rejected a temporary branch: ${staged.reason}`,
        scope: pullContentRejectionPattern.test(staged.text) ? 'pull' : 'branch',
      }
    triggerCrashPoint('staged')
    if (method.signed) {
      const signedCopy = await createGitHubSignedCommit(step)
      if (signedCopy.unverified !== undefined)
        return {
          kind: 'refused',
          reason: `GitHub did not verify the signature of the commit that it created: ${signedCopy.unverified}`,
          scope: 'branch',
        }
      commit = signedCopy.commit
    }
    if (method.checksFirst) {
      const lacking = await publishBotCheckRuns(step, commit)
      if (lacking !== undefined) return lacking
    }
  }
  return { kind: 'ready', method, commit, act: () => pushMerge(step, method, commit) }
}

/** Rejections of the pull request's content, which apply to any branch. */
const pullContentRejectionPattern = /refusing to allow|GH00[179]|PUSH PROTECTION|exceeds GitHub's file size/
const requiresStagingBranch = (method: PushMergeStrategy): boolean => method.checksFirst || method.signed

/** GitHub's signed commit with the same parents and tree. src/adapters/git/push-merge.ts verifies them. */
async function createGitHubSignedCommit({ permit, options }: MergeAttempt): Promise<SignedCommit> {
  const { repository, merging } = options
  const { merge } = permit
  const signedCopy = await merging.createSignedCommit(permit, await repository.messageOf(merge.commit))
  if (signedCopy.unverified !== undefined) return signedCopy
  await recordStagedCommit(merge, signedCopy.commit, options.store)
  await merging.moveStagingBranch(permit, signedCopy.commit)
  await repository.fetch(formatTemporaryBranchName(merge))
  triggerCrashPoint('signed')
  return signedCopy
}

/** Checks that the gate does not require by default. */
const optionalBotCheckNames = new Set(
  toPrefixedCheckNames(allChecks.filter(({ requirement }) => requirement !== 'required').map(({ id }) => id)),
)

/**
 * Adds catalog-bot's passed check runs to the commit to be pushed. Omits a failed optional check. If the branch requires
 * that check, nothing is pushed.
 */
async function publishBotCheckRuns(
  { options, rules }: MergeAttempt,
  commit: CommitSha,
): Promise<RejectedMerge | undefined> {
  const { forge, checks } = options
  const passed = checks.filter(({ conclusion }) => conclusion === 'success')
  const others = checks.filter((check) => !passed.includes(check))
  if (passed.length === 0 || others.some(({ name }) => !optionalBotCheckNames.has(name)))
    throw new Error('a permit was issued although not all required checks passed')
  const requiredNames = new Set(rules?.checks.required.map(({ name }) => name))
  const [lacking] = others.filter(({ name }) => requiredNames.has(name))
  if (lacking !== undefined)
    return {
      kind: 'refused',
      reason: `the branch requires the check "${lacking.name}", which did not pass`,
      scope: 'pull',
    }
  await publishMissingCheckRuns(forge, commit, passed)
  triggerCrashPoint('checks-put')
  return undefined
}

async function pushMerge(
  { permit, options, batch }: MergeAttempt,
  { signed, checksFirst }: PushMergeStrategy,
  commit: CommitSha,
): Promise<MergeActionResult> {
  const { repository, clock } = options
  const until = clock.now() + checkRunVisibilityTimeoutMs
  for (let pause = initialPushRetryPauseMs; ; pause *= 2) {
    const result =
      batch === undefined ? await repository.pushMerge(permit, commit) : await pushBatch(batch, repository)
    if (result.kind === 'landed') return { kind: 'done' }
    if (result.kind === 'base-moved') return { kind: 'race', why: 'the base branch changed' }
    const isLate = checksFirst && isRejectedForPendingChecks(result.text)
    if (!isLate || clock.now() + pause > until) return toRejectedMerge(result, commit, signed)
    await clock.sleep(pause)
  }
}

function pushBatch(batch: readonly MergePermit[], repository: GitRepository): Promise<MergePushResult> {
  if (repository.pushMergeBatch === undefined) throw new TypeError('this repository does not support batches')
  return repository.pushMergeBatch(batch)
}

/** Whether every complaint is about a check that GitHub has not recognized yet. */
function isRejectedForPendingChecks(text: string): boolean {
  const reasons = text
    .split('\n')
    .filter((line) => line.startsWith('- ') || /^error: (?!GH0)/.test(line))
    .map((line) => line.replace(/^(?:- |error: )/, ''))
  return reasons.length > 0 && reasons.every((item) => pendingStatusCheckPattern.test(item))
}
const pendingStatusCheckPattern =
  /^(?:Required status check ".*" is (?:expected|in progress|pending)\.?|\d+ of \d+ required status checks are (?:expected|pending|in progress)\.?|\d+ of \d+ required status checks have not succeeded: (?:\d+ (?:expected|pending)(?: and )?)+\.?)$/

function toRejectedMerge(
  { reason, text }: { readonly reason: string; readonly text: string },
  commit: CommitSha,
  isSigned: boolean,
): RejectedMerge {
  return { kind: 'refused', reason, response: { by: 'push', text }, commit, isSigned }
}

/** Removes the temporary branch after any outcome. If that fails, the sweep removes it. */
export async function removeTemporaryBranch({
  plan: { method },
  permit,
  options,
}: MergeAttempt): Promise<void> {
  if (method?.kind !== 'push' || !requiresStagingBranch(method)) return
  triggerCrashPoint('before-tidying')
  await removeStagingBranch(permit.merge, formatTemporaryBranchName(permit.merge), options).catch(
    () => undefined,
  )
}

/**
 * Detects a merge that differs from GitHub's test merge, because GitHub would then dismiss approvals. Rejects if
 * GitHub's merge of the same commits has another tree. Without a test merge, GitHub decides.
 */
async function findTestMergeMismatch(
  { pull, base, head, tree }: ValidatedMerge,
  repository: GitRepository,
): Promise<RejectedMerge | undefined> {
  const test = await repository.fetchTestMerge(pull)
  if (test === undefined) return undefined
  const [first, second] = await repository.parentsOf(test)
  // The test merge is for an older base or head.
  if (first !== base || second !== head) return undefined
  if ((await repository.treeOf(test)) === tree) return undefined
  return {
    kind: 'refused',
    scope: 'pull',
    reason:
      "this branch accepts only GitHub's merge of this pull request, but the content of that merge differs from what catalog-bot checked, for example because GitHub follows renamed files; rebase the pull request onto its base branch",
  }
}

/**
 * Removes temporary branches that a crashed process left. Checks soon after a merge creates one, and rarely otherwise.
 * Call this before adding a commit to a temporary branch. Only recorded branches are removed.
 */
export async function recordStagedCommit(
  merge: StagedMerge,
  commit: CommitSha,
  store: Pick<Cache, 'putCached'> & StateStore,
): Promise<void> {
  const { repository, baseRef } = merge
  const known = (await store.readState(stagedCommitsStateNamespace, repository, baseRef)) ?? []
  const staged = [{ branch: formatTemporaryBranchName(merge), commit }, ...known].slice(0, maxStagedCommits)
  await store.writeState(stagedCommitsStateNamespace, repository, new Map([[baseRef, staged]]))
  await store.putCached(
    stagingBranchUseCacheNamespace,
    new Map([[toRepositoryKey(repository), 'used']]),
    stagingBranchUseCacheSeconds,
  )
}

/** Removes a branch only if its tip is a recorded commit. With another tip, the branch belongs to someone else. */
async function removeStagingBranch(
  { repository: name, baseRef }: Pick<ValidatedMerge, 'repository' | 'baseRef'>,
  branch: string,
  {
    repository,
    store,
  }: { readonly repository: Pick<GitRepository, 'deleteStagingBranch'>; readonly store: StateStore },
): Promise<void> {
  const known = (await store.readState(stagedCommitsStateNamespace, name, baseRef)) ?? []
  for (const one of known)
    if (one.branch === branch && (await repository.deleteStagingBranch(branch, toCommitSha(one.commit))))
      break
  const others = known.filter((one) => one.branch !== branch)
  if (others.length < known.length)
    await store.writeState(stagedCommitsStateNamespace, name, new Map([[baseRef, others]]))
}

/** Removes leftover branches. Branches in use remain, because the lease on their base branch is taken. */
export async function removeLeftoverStagingBranches(
  name: RepositoryName,
  ctx: StagingBranchCleanupContext,
): Promise<void> {
  const { merging, store, leaseSeconds } = ctx
  if (
    (await store.getCached(stagingBranchUseCacheNamespace, [toRepositoryKey(name)])).get(
      toRepositoryKey(name),
    ) === 'clean'
  )
    return
  let isClean = true
  for (const { name: branch, tip } of await merging.listBranchesWithPrefix(temporaryBranchPrefix)) {
    const baseRef = parseTemporaryBranchName(branch)?.baseRef
    if (baseRef === undefined) continue
    const known = (await store.readState(stagedCommitsStateNamespace, name, baseRef)) ?? []
    // The name alone proves nothing, because anyone can use it.
    if (!known.some((one) => one.branch === branch && one.commit === tip)) continue
    isClean = false
    const lease = await store.acquireLease(toMergeLeaseName(name, baseRef), leaseSeconds)
    if (lease === undefined) continue
    try {
      await removeStagingBranch({ repository: name, baseRef }, branch, ctx)
    } finally {
      await store.releaseLease(lease)
    }
  }
  if (isClean)
    await store.putCached(
      stagingBranchUseCacheNamespace,
      new Map([[toRepositoryKey(name), 'clean']]),
      stagingBranchUseCacheSeconds,
    )
}
