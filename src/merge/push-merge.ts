// Merges with a compare-and-swap push of the validated merge or of GitHub's signed copy. Required checks are first added
// to that commit on a temporary branch.
import type { CommitSha } from '../pull-request/ids.ts'
import type { SignedCommit } from '../ports/merge-api.ts'
import { doesGitHubCompareMergeTrees } from '../policy/branch-rules.ts'
import { type MergeStrategy, formatTemporaryBranch } from '../policy/merge-strategy.ts'
import type { MergePermit } from '../policy/merge-permit.ts'
import type { MergePushResult, GitRepository } from '../ports/repository.ts'
import { checkDefinitions as allChecks } from '@catalog-bot/findings/checks'
import { toPrefixedCheckNames } from '../report/report-options.ts'
import { findTestMergeMismatch } from './compare-test-merge.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { publishMissingCheckRuns } from '../jobs/publish-checks.ts'
import { recordStagedCommit, removeStagingBranch } from './staging-branches.ts'
import type { MergeActionResult, MergePreparationResult, MergeAttempt } from './prepared-merge.ts'
import type { RejectedMerge } from './merge-options.ts'

type PushStrategy = Extract<MergeStrategy, { kind: 'push' }>

/** GitHub can take a second to recognize new checks. bors-ng and other bots also wait. */
const checkRunVisibilityTimeoutMs = 10_000
const initialPushRetryPauseMs = 250

export async function preparePushMerge(
  step: MergeAttempt,
  method: PushStrategy,
): Promise<MergePreparationResult> {
  const { permit, options, rules } = step
  const { landing } = permit
  const isCompared = step.plan.needsGitHubsTree ?? (rules !== undefined && doesGitHubCompareMergeTrees(rules))
  const other = isCompared ? await findTestMergeMismatch(landing, options.repository) : undefined
  if (other !== undefined) return other
  let { commit } = landing
  if (requiresStagingBranch(method)) {
    await recordStagedCommit(landing, commit, options.store)
    let staged = await options.repository.createStagingBranch(permit)
    if (staged.kind === 'taken') {
      // An earlier attempt at this merge may have left the branch.
      await removeStagingBranch(landing, formatTemporaryBranch(landing), options)
      await recordStagedCommit(landing, commit, options.store)
      staged = await options.repository.createStagingBranch(permit)
    }
    if (staged.kind === 'taken')
      return {
        kind: 'refused',
        reason: `the branch ${formatTemporaryBranch(landing)} exists but was not created by catalog-bot; delete or rename it`,
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

const requiresStagingBranch = (method: PushStrategy): boolean => method.checksFirst || method.signed

/** GitHub's signed commit with the same parents and tree. src/adapters/git/push-merge.ts verifies them. */
async function createGitHubSignedCommit({ permit, options }: MergeAttempt): Promise<SignedCommit> {
  const { repository, merging } = options
  const { landing } = permit
  const signedCopy = await merging.createSignedCommit(permit, await repository.messageOf(landing.commit))
  if (signedCopy.unverified !== undefined) return signedCopy
  await recordStagedCommit(landing, signedCopy.commit, options.store)
  await merging.moveStagingBranch(permit, signedCopy.commit)
  await repository.fetch(formatTemporaryBranch(landing))
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
  const wanted = new Set(rules?.checks.required.map(({ name }) => name))
  const [lacking] = others.filter(({ name }) => wanted.has(name))
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
  { signed, checksFirst }: PushStrategy,
  commit: CommitSha,
): Promise<MergeActionResult> {
  const { repository, clock } = options
  const until = clock.now() + checkRunVisibilityTimeoutMs
  for (let pause = initialPushRetryPauseMs; ; pause *= 2) {
    const result =
      batch === undefined ? await repository.pushMerge(permit, commit) : await pushBatch(batch, repository)
    if (result.kind === 'landed') return { kind: 'done' }
    if (result.kind === 'base-moved') return { kind: 'race', why: 'the base branch changed' }
    const isLate = checksFirst && isAwaitingChecks(result.text)
    if (!isLate || clock.now() + pause > until) return toRejectedMerge(result, commit, signed)
    await clock.sleep(pause)
  }
}

function pushBatch(batch: readonly MergePermit[], repository: GitRepository): Promise<MergePushResult> {
  if (repository.pushMergeBatch === undefined) throw new TypeError('this repository does not support batches')
  return repository.pushMergeBatch(batch)
}

/** Whether every complaint is about a check that GitHub has not recognized yet. */
function isAwaitingChecks(text: string): boolean {
  const complaints = text
    .split('\n')
    .filter((line) => line.startsWith('- ') || /^error: (?!GH0)/.test(line))
    .map((line) => line.replace(/^(?:- |error: )/, ''))
  return complaints.length > 0 && complaints.every((complaint) => awaitedStatusCheckPattern.test(complaint))
}
const awaitedStatusCheckPattern =
  /^(?:Required status check ".*" is (?:expected|in progress|pending)\.?|\d+ of \d+ required status checks are (?:expected|pending|in progress)\.?|\d+ of \d+ required status checks have not succeeded: (?:\d+ (?:expected|pending)(?: and )?)+\.?)$/

function toRejectedMerge(
  { reason, text }: { readonly reason: string; readonly text: string },
  commit: CommitSha,
  isSigned: boolean,
): RejectedMerge {
  return { kind: 'refused', reason, words: { by: 'push', text }, commit, isSigned }
}

/** Removes the temporary branch after any outcome. If that fails, the sweep removes it. */
export async function removeTemporaryBranch({
  plan: { method },
  permit,
  options,
}: MergeAttempt): Promise<void> {
  if (method?.kind !== 'push' || !requiresStagingBranch(method)) return
  triggerCrashPoint('before-tidying')
  await removeStagingBranch(permit.landing, formatTemporaryBranch(permit.landing), options).catch(
    () => undefined,
  )
}
