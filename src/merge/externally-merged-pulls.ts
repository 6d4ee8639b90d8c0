// Handles pull requests that others merged, that are already on their base, or whose base is not served: waits for
// GitHub's state, and replaces an outdated report. Doesn't comment on a pull request on which catalog-bot never
// commented.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { findBaseCommitOfGitHubMerge, auditMerge } from './read-merge-result.ts'
import type { MergedCommitVerdict } from '../policy/verdict.ts'
import { botCheckNames } from '../report/report-options.ts'
import { renderExternalMergeComment, renderUnmanagedBranchReport } from '../report/report.ts'
import type { BotCommentAndCheckRuns } from '../ports/forge.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { publishPullReport, createPullHeadTimer, pullHeadTimerStartSchema } from '../jobs/publish-report.ts'
import { wasMergeAnnounced, markMergeAnnounced, isPullMergedByBot } from '../jobs/merged-report.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import { createMergeRecoveryOptions, recoverMergesOfPull } from './recover-merges.ts'

/** After this time, catalog-bot reports a user's push that left the pull request open. */
const mergeDetectionTimeoutSeconds = 30

/** If lost, the wait for GitHub starts over. */
const computeMsSinceHeadMerged = createPullHeadTimer(
  defineCacheNamespace('contained head', 1, pullHeadTimerStartSchema),
)

type PrefetchedBotReports = BotCommentAndCheckRuns | undefined

export async function reportPullOnUnmanagedBranch(
  { pull, head, baseRef }: PullSnapshot,
  { forge }: JobContext,
  read: PrefetchedBotReports,
): Promise<void> {
  const present = read?.head === head ? read : await forge.readOwnReports(pull, head)
  const names = botCheckNames.filter((own) => present.checks.some(({ name }) => name === own))
  if (present.comment === undefined && names.length === 0) return
  await publishPullReport(forge, () => renderUnmanagedBranchReport(baseRef, names), pull, head, { present })
}

/** `merged`: GitHub reports it, and there is no record of a merge by catalog-bot. */
export async function reportPullMergedByOthers(
  merged: PullSnapshot,
  ctx: JobContext<Store>,
  read: PrefetchedBotReports,
): Promise<void> {
  const { forge, merging, repository } = ctx
  const { pull, head, baseRef } = merged
  const outcome = await merging.readMergeState(pull)
  const commit = outcome?.merged
  if (commit === undefined || (await wasMergeAnnounced(pull, commit, ctx))) return
  const present = read?.head === head ? read : await forge.readOwnReports(pull, head)
  if (present.comment === undefined) return
  await repository.fetch(baseRef, pull)
  const intent = { head, base: merged.base, method: { kind: 'queue' } } as const
  const onto = await findBaseCommitOfGitHubMerge(intent, commit, repository)
  const verdict: MergedCommitVerdict =
    onto === undefined
      ? {
          kind: 'invalid',
          reasons: ["the commit is not the result of merging this pull request into the commit's parent"],
        }
      : await auditMerge({ pull, baseRef, head }, onto, commit, ctx)
  const body = renderExternalMergeComment({ ...outcome, commit, verdict })
  if (present.comment.body !== body) await forge.perform({ kind: 'put-comment', pull, body, present })
  await markMergeAnnounced(pull, commit, ctx)
}

/**
 * Decides what to do with an open pull request whose base branch already contains its head, because GitHub notices a
 * pushed merge with a delay. `merged`: catalog-bot merged and recorded it. `wait`: wait for GitHub or the merging
 * process. `open`: GitHub leaves it open. Rejects with a GitError, ForgeError or StoreError.
 */
export async function resolveOpenPullWithMergedHead(
  snapshot: PullSnapshot,
  ctx: JobContext<Store>,
): Promise<'merged' | 'wait' | 'open'> {
  const isSettled = await recoverMergesOfPull(
    snapshot.repository,
    snapshot.pull,
    createMergeRecoveryOptions(ctx),
  )
  if (await isPullMergedByBot(snapshot, ctx)) return 'merged'
  if (!isSettled) return 'wait'
  const contained = await computeMsSinceHeadMerged(snapshot, ctx)
  return contained < mergeDetectionTimeoutSeconds * 1000 ? 'wait' : 'open'
}
