// Records an evaluation's verdict and publishes its report.
import { createHash } from 'node:crypto'
import type { ReportOptions } from '../report/report-options.ts'
import { renderReport, type PullReport } from '../report/report.ts'
import { describeBaseBranchBreakages, describeChannelHeadConflicts } from '../report/evaluation-report.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'
import type { StateStore } from '../ports/state.ts'
import type { VerdictRecord } from '../ports/page-records.ts'
import type { PullEvaluation } from './evaluate-snapshot.ts'
import { publishReport, type ReportComposer, type PublishReportOptions } from '../jobs/publish-report.ts'
import type { StoredEvaluationReport } from '../jobs/merged-report.ts'
import { formatStatusPageUrl } from '../jobs/status-page-url.ts'
import type { JobContext } from '../jobs/job-context.ts'

export function toVerdictRecord(
  { snapshot, verdict, configDigest, report }: PullEvaluation,
  decidedAt: number,
): VerdictRecord {
  const { permit: _permit, ...plain } = verdict
  const storedReport: StoredEvaluationReport = { verdict: plain, ...report }
  return {
    repository: snapshot.repository,
    pull: snapshot.pull,
    head: snapshot.head,
    base: snapshot.base,
    config: configDigest,
    verdict: verdict.kind,
    report: storedReport,
    decidedAt,
  }
}

export function composeEvaluationReport(
  { snapshot, verdict, report }: PullEvaluation,
  { app, forge }: JobContext,
  more: Pick<ReportOptions, 'runs' | 'landed' | 'published' | 'meanwhile'> = {},
): PullReport {
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return renderReport(verdict, {
    ...report,
    page,
    rulesUrl: app.settings.rulesUrl,
    statusPage: formatStatusPageUrl(app.settings, forge.repository, snapshot.pull),
    ...more,
  })
}

/** Describes what others merged since, from the records. */
async function describeConcurrentMerges(
  { snapshot, report }: PullEvaluation,
  { app, forge }: JobContext<MergeRecordStore>,
): Promise<readonly string[]> {
  const { moved = [], baseBreaks = [] } = report
  if (moved.length === 0 && baseBreaks.length === 0) return []
  const pulls = await app.store.findPullsOfCommits(
    forge.repository,
    [...moved, ...baseBreaks].flatMap(({ commit }) => commit ?? []),
  )
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return [
    ...describeBaseBranchBreakages(baseBreaks, pulls, page, snapshot.baseRef),
    ...describeChannelHeadConflicts(moved, pulls, page, snapshot.baseRef),
  ]
}

/** A digest of everything the evaluation shows to people. */
export async function computeEvaluationReportDigest(
  evaluation: PullEvaluation,
  ctx: JobContext<MergeRecordStore>,
): Promise<string> {
  const shown = composeEvaluationReport(evaluation, ctx, {
    meanwhile: await describeConcurrentMerges(evaluation, ctx),
  })
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex')
}

/**
 * Publishes the report and records which head was shown and when, because commands bind to it. `how`: see
 * publishReport().
 */
export async function publishEvaluation(
  evaluation: PullEvaluation,
  ctx: JobContext<Required<PullHistoryStore> & StateStore & MergeRecordStore>,
  how: Pick<PublishReportOptions, 'present' | 'isRestLater'> = {},
): Promise<void> {
  const { snapshot, epoch, described } = evaluation
  const meanwhile = await describeConcurrentMerges(evaluation, ctx)
  const compose: ReportComposer = (runs) => composeEvaluationReport(evaluation, ctx, { runs, meanwhile })
  const at = await publishReport(ctx.forge, compose, snapshot.pull, snapshot.head, how)
  if (at === undefined) return
  const { repository, pull, head } = snapshot
  // Stored before it is shown, because approvals refer to it by name.
  if (described) await ctx.app.store.recordChange(repository, pull, described)
  await ctx.app.store.recordShown(repository, pull, {
    head,
    epoch,
    at,
    ...(described && { change: described.id }),
  })
}
