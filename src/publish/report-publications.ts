// Reports publications on GitHub: commit checks, deployments, comments, replies to /rollback, and one issue. Publishes
// only what differs from the recorded reports. If GitHub rejects one of them, the others continue.
import { createHash } from 'node:crypto'
import { toPullNumber, type CommitSha, type PullNumber } from '../pull-request/ids.ts'
import { catchRejection, ForgeError } from '../adapters/github/forge-error.ts'
import {
  formatDeploymentDescription,
  summarizePublicationStatus,
  renderPublishCheck,
  formatPublishedImageLines,
} from '../report/publish-check.ts'
import {
  renderPublishIssue,
  resolvedPublishIssue,
  publishIssueMarker,
  type PublishFailureView,
  renderRollbackResult,
} from '../report/base-branch-issues.ts'
import type { JobQueue } from '../ports/jobs.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type { VerdictStore } from '../ports/status-page-store.ts'
import { type JobContext, requeuePull } from '../jobs/job-context.ts'
import { addCheckRunDigest, publishMissingCheckRuns } from '../jobs/publish-report.ts'
import { updateTrackedIssue } from '../jobs/tracked-issue.ts'
import { republishMergedPullReport, pullPublicationStateNamespace } from '../jobs/merged-report.ts'
import type { PublicationPlanProblem } from './plan-publications.ts'
import {
  publicationStateNamespace,
  reportedPublicationsStateNamespace,
  type RollbackRequest,
  type ReportedPublications,
  getLastPublishAttemptCommit,
  toPublicationFailureViews,
  toPublishedImageView,
  toPublicationStateView,
  type PublicationStatus,
} from './publication-state.ts'

type PublishIssueState = ReportedPublications['issue']

export interface PublicationStatusWithRollback extends PublicationStatus {
  /** The last /rollback, carried out or not. */
  readonly rollbackRequest?: RollbackRequest | undefined
}

type PublicationReportContext = JobContext<JobQueue & StateStore & MergeRecordStore & VerdictStore>

const emptyReportedPublications: ReportedPublications = {
  checks: {},
  deployments: {},
  answers: {},
  problems: {},
}
const deploymentRejectedMessage =
  'GitHub rejected the deployment record because the App lacks the "deployments: write" permission or the environment is protected. The image was still published.'

/** Reports on a commit that its image build started or was superseded. */
export async function reportImageBuildProgress(
  { publication, commit, by }: PublicationStatus & { readonly by?: CommitSha },
  ctx: PublicationReportContext,
): Promise<void> {
  const { catalog, image, tags } = publication
  const state = by === undefined ? { kind: 'building' as const } : { kind: 'superseded' as const, by }
  await reportPublicationCheckRun(commit, [{ root: catalog.root, image, tags, state }], [], ctx)
}

export async function reportPublications(
  statuses: readonly PublicationStatusWithRollback[],
  problems: readonly PublicationPlanProblem[],
  ctx: PublicationReportContext,
): Promise<void> {
  const { app, forge } = ctx
  const before =
    (await app.store.readState(reportedPublicationsStateNamespace, forge.repository, 'all')) ??
    emptyReportedPublications
  let shown = before
  const saveShown = async (next: ReportedPublications) => {
    if (JSON.stringify(next) === JSON.stringify(shown)) return
    shown = next
    await writeStateValue(app.store, reportedPublicationsStateNamespace, forge.repository, 'all', shown)
  }
  const deploymentReport = await reportDeployments(statuses, shown, ctx)
  await saveShown({ ...shown, deployments: deploymentReport.deployments })
  await saveShown({
    ...shown,
    checks: await reportPublicationCheckRuns(statuses, shown, deploymentReport.ids, ctx),
  })
  await reportPublicationsToPulls(statuses, ctx)
  await saveShown({ ...shown, answers: await replyToRollbackComments(statuses, shown, ctx) })
  const now = app.clock.now()
  const problemsSince = Object.fromEntries(
    problems.map((one) => [
      toPublicationProblemKey(one),
      before.problems[toPublicationProblemKey(one)] ?? now,
    ]),
  )
  const failures = toPublicationFailureViews(
    statuses,
    problems,
    (one) => problemsSince[toPublicationProblemKey(one)] ?? now,
  )
  app.metrics.unpublished.set(
    { repository: `${forge.repository.owner}/${forge.repository.name}` },
    failures.length,
  )
  await saveShown({ ...shown, problems: problemsSince })
  await updatePublishIssue(failures, shown.issue, ctx, (issue) =>
    saveShown({ ...shown, ...(issue !== undefined && { issue }) }),
  )
}

const toPublicationProblemKey = ({ root, image, why }: PublicationPlanProblem) => `${root} ${image}: ${why}`

async function reportDeployments(
  statuses: readonly PublicationStatusWithRollback[],
  shown: ReportedPublications,
  { app, forge }: PublicationReportContext,
): Promise<{ readonly deployments: Record<string, string>; readonly ids: ReadonlySet<string> }> {
  const deployments: Record<string, string> = {}
  const rejectedIds = new Set<string>()
  for (const { publication, state } of statuses) {
    const view = toPublicationStateView(state)
    const { id, environment } = publication
    const known = shown.deployments[id]
    const isEnd = view.kind !== 'building' && (view.kind !== 'failed' || view.isLasting)
    const commit = state.failure?.commit ?? state.current?.commit
    if (!isEnd || commit === undefined) {
      if (known !== undefined) deployments[id] = known
      continue
    }
    const isGood = view.kind === 'published' || view.kind === 'rolled-back'
    const description = formatDeploymentDescription(view)
    const digest = computeJsonDigest([commit, environment, description])
    if (known === digest || known === `${digest} refused`) {
      deployments[id] = known
      if (known !== digest) rejectedIds.add(id)
      continue
    }
    const about = { commit, environment, description, isTransient: false }
    deployments[id] = digest
    await catchRejection(
      forge.perform({ kind: 'put-deployment', ...about, state: isGood ? 'success' : 'failure' }),
      (error) => {
        app.log.warn({ err: error, environment }, 'GitHub rejected a deployment record')
        deployments[id] = `${digest} refused`
        rejectedIds.add(id)
      },
    )
  }
  return { deployments, ids: rejectedIds }
}

async function reportPublicationCheckRuns(
  statuses: readonly PublicationStatusWithRollback[],
  shown: ReportedPublications,
  rejectedIds: ReadonlySet<string>,
  ctx: PublicationReportContext,
): Promise<Record<string, string>> {
  const byCommit = Map.groupBy(statuses, getLastPublishAttemptCommit)
  const checks: Record<string, string> = {}
  for (const [commit, group] of byCommit) {
    const views = group.map(toPublishedImageView)
    const notes = group.some(({ publication }) => rejectedIds.has(publication.id))
      ? [deploymentRejectedMessage]
      : []
    const digest = computeJsonDigest([views, notes])
    if (shown.checks[commit] !== digest) await reportPublicationCheckRun(commit, views, notes, ctx)
    checks[commit] = digest
  }
  return checks
}

async function reportPublicationCheckRun(
  commit: CommitSha,
  views: Parameters<typeof renderPublishCheck>[0],
  notes: readonly string[],
  { app, forge }: PublicationReportContext,
): Promise<void> {
  const run = addCheckRunDigest(renderPublishCheck(views, notes))
  await catchRejection(publishMissingCheckRuns(forge, commit, [run]), (error) =>
    app.log.warn({ err: error, commit }, 'GitHub rejected the check run for a published image'),
  )
}

/** Includes pull requests whose commits a newer commit superseded. */
async function reportPublicationsToPulls(
  statuses: readonly PublicationStatusWithRollback[],
  ctx: PublicationReportContext,
): Promise<void> {
  const { app, forge } = ctx
  const pulls = new Set(statuses.flatMap(({ state }) => state.pulls))
  const ended = new Set<number>()
  for (const number of pulls) {
    const pull = toPullNumber(number)
    const views = statuses.filter(({ state }) => state.pulls.includes(number)).map(toPublishedImageView)
    const desired = {
      state: summarizePublicationStatus(views),
      lines: [...formatPublishedImageLines(views)],
      isShown: true,
    }
    const known = await app.store.readState(pullPublicationStateNamespace, forge.repository, String(pull))
    if (JSON.stringify(known) !== JSON.stringify(desired)) {
      const writeReported = (isShown: boolean) =>
        writeStateValue(app.store, pullPublicationStateNamespace, forge.repository, String(pull), {
          ...desired,
          isShown,
        })
      await writeReported(false)
      await catchRejection(reportPublicationsOnPull(pull, statuses, ctx), (error) =>
        app.log.warn({ err: error, pull }, 'GitHub rejected the comment on a merged pull request'),
      )
      await writeReported(true)
    }
    if (desired.state === 'published') ended.add(number)
  }
  if (ended.size === 0) return
  await app.store.writeState(
    publicationStateNamespace,
    forge.repository,
    new Map(
      statuses
        .filter(({ state }) => state.pulls.some((pull) => ended.has(pull)))
        .map(({ publication, state }) => [
          publication.id,
          { ...state, pulls: state.pulls.filter((pull) => !ended.has(pull)) },
        ]),
    ),
  )
}

async function reportPublicationsOnPull(
  pull: PullNumber,
  statuses: readonly PublicationStatusWithRollback[],
  ctx: PublicationReportContext,
): Promise<void> {
  const merge = await republishMergedPullReport(pull, ctx, {
    // The evaluation job may be about to create the comment.
    onMissing: () => requeuePull(pull, ctx),
  })
  if (merge === undefined) return
  const mine = statuses.filter(({ state }) => state.pulls.includes(pull))
  const later = mine.find((status) => getLastPublishAttemptCommit(status) !== merge.commit)
  const isReportedOnCommit = mine.some((status) => getLastPublishAttemptCommit(status) === merge.commit)
  if (later === undefined || isReportedOnCommit) return
  const by = getLastPublishAttemptCommit(later)
  const views = mine.map((status) => ({
    ...toPublishedImageView(status),
    state: { kind: 'superseded' as const, by },
  }))
  await reportPublicationCheckRun(merge.commit, views, [], ctx)
}

/** Answers each comment once, on the pull request where it was made. */
async function replyToRollbackComments(
  statuses: readonly PublicationStatusWithRollback[],
  shown: ReportedPublications,
  { app, forge }: PublicationReportContext,
): Promise<Record<string, number>> {
  const answers: Record<string, number> = {}
  for (const { publication, state, rollbackRequest } of statuses) {
    const { id } = publication
    const known = shown.answers[id]
    const isAnswerable =
      rollbackRequest !== undefined &&
      state.granted === rollbackRequest.comment &&
      known !== rollbackRequest.comment
    if (!isAnswerable) {
      if (known !== undefined) answers[id] = known
      continue
    }
    const done = state.current?.digest === rollbackRequest.digest
    const body = renderRollbackResult({ ...publication, digest: rollbackRequest.digest, isDone: done })
    const marker = `<!-- catalog-bot:rollback ${rollbackRequest.comment} ${createHash('sha256').update(id).digest('hex').slice(0, 12)} -->`
    const { pull } = rollbackRequest
    await catchRejection(forge.perform({ kind: 'say-on-issue', issue: pull, marker, body }), (error) =>
      app.log.warn({ err: error, pull }, 'GitHub rejected the reply to /rollback'),
    )
    answers[id] = rollbackRequest.comment
  }
  return answers
}

function computeJsonDigest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20)
}

/** Rejects with a retryable ForgeError; a rejection is logged. */
async function updatePublishIssue(
  failures: readonly PublishFailureView[],
  known: PublishIssueState,
  { app, forge }: JobContext,
  saveIssue: (issue: PublishIssueState) => Promise<void>,
): Promise<void> {
  const desired = failures.length === 0 ? undefined : renderPublishIssue(failures)
  if (desired === undefined && known === undefined) return
  const digest = createHash('sha256')
    .update(JSON.stringify(desired ?? { title: resolvedPublishIssue.title, body: resolvedPublishIssue.body }))
    .digest('hex')
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    await saveIssue({ ...known, digest: '' })
    const { number } = await updateTrackedIssue(
      {
        marker: publishIssueMarker,
        number: known?.number,
        desired,
        // Users still do not get the merged catalog.
        whenClosed: () => 'reopen',
        solved: {
          ...resolvedPublishIssue,
          commentMarker: ({ body }) =>
            `<!-- catalog-bot:published-again ${createHash('sha256').update(body).digest('hex').slice(0, 16)} -->`,
        },
      },
      forge,
    )
    await saveIssue({ ...(number !== undefined && { number }), digest })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    await saveIssue({ ...known, digest })
    app.log.warn(
      { err: error, failures: failures.length },
      'GitHub rejected the issue about unpublished catalogs because issues are disabled or the App lacks the "issues: write" permission',
    )
  }
}
