import type { MergeRecoveryOptions } from './merge-options.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { auditMerge } from './audit-merge.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import {
  renderMismatchIssue,
  formatMismatchMarker,
  renderRevertPull,
  type TreeMismatchView,
  type RevertPullRequestView,
} from '../report/base-branch-issues.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'

interface DetectedTreeMismatch {
  readonly intent: ValidatedMerge
  /** The branch's actual commit, if known. */
  readonly found?: CommitSha | undefined
  /** A sentence without a full stop. */
  readonly differs: string
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
    judgeMerged: (intent, base, commit) => auditMerge(intent, base, commit, ctx),
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
  const mismatch: TreeMismatchView = { pull, branch, base, head, commit, tree, found, differs }
  try {
    const revert = await openRevertPull(mismatch, ctx)
    const wanted = renderMismatchIssue(mismatch, revert)
    const issue = await forge.findOwnIssue(formatMismatchMarker(mismatch))
    if (issue === undefined) await forge.perform({ kind: 'open-issue', ...wanted })
    else if (issue.body !== wanted.body)
      await forge.perform({ kind: 'edit-issue', issue: issue.number, ...wanted })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.error(
      { err: error, repository, branch },
      'GitHub rejected the issue about a failed merge verification',
    )
  }
}

/** Opens a pull request on the current tip with the tree before the merge. */
async function openRevertPull(
  mismatch: TreeMismatchView,
  { repository, forge }: JobContext,
): Promise<RevertPullRequestView> {
  const { branch, base, commit } = mismatch
  await repository.fetch(branch)
  const tip = await repository.tip(branch)
  if (tip === undefined) return { kind: 'none', why: 'the branch does not exist' }
  const tree = await repository.treeOf(base)
  if (tree === (await repository.treeOf(tip)))
    return { kind: 'none', why: 'the branch is already in the state that it had before the merge' }
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
      ...renderRevertPull(mismatch, undone),
    })
    return pull === undefined
      ? { kind: 'none', why: 'GitHub did not return a pull request' }
      : { kind: 'offered', pull }
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    return { kind: 'none', why: error.message }
  }
}
