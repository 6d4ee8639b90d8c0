// Records an evaluation's verdict and publishes its report.
import { createHash } from 'node:crypto'
import type { PullReportOptions } from '../report/report-options.ts'
import { renderPullReport, type PullReport } from '../report/report.ts'
import { collectMergesSinceEvaluation, describeMergesSinceEvaluation } from '../report/evaluation-report.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import { type StateStore, defineStateNamespace } from '../ports/state.ts'
import type { VerdictRecord } from '../ports/status-page-store.ts'
import type { PullEvaluation } from './pull-evaluation.ts'
import {
  publishPullReport,
  type PullReportComposer,
  type PublishPullReportOptions,
  formatStatusPageUrl,
} from '../jobs/publish-report.ts'
import type { StoredEvaluationReport } from '../jobs/merged-report.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { z } from 'zod'
import { collectUnblockingUsers } from '../policy/decide.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'

/** If more users are asked, none of them tends to respond. */
const maxRequestedReviewers = 5
const reviewerLoginsSchema = z.array(z.string())

const requestedReviewersStateNamespace = defineStateNamespace<readonly string[]>('requested reviews', {
  version: 1,
  read: (stored) => reviewerLoginsSchema.safeParse(stored).data,
})

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

export function composePullReport(
  { snapshot, verdict, report }: PullEvaluation,
  { app, forge }: JobContext,
  more: Pick<PullReportOptions, 'runs' | 'landed' | 'published' | 'meanwhile'> = {},
): PullReport {
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return renderPullReport(verdict, {
    ...report,
    page,
    rulesUrl: app.settings.rulesUrl,
    statusPage: formatStatusPageUrl(app.settings, forge.repository, snapshot.pull),
    ...more,
  })
}

/** Describes what other accounts have merged since then, from the records. */
async function readMergesSinceEvaluation(
  { snapshot, report }: PullEvaluation,
  { app, forge }: JobContext<MergeRecordStore>,
): Promise<readonly string[]> {
  if (report.moved === undefined && report.baseBreaks === undefined) return []
  const pulls = await app.store.findPullsOfCommits(forge.repository, collectMergesSinceEvaluation(report))
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return describeMergesSinceEvaluation(report, pulls, page, snapshot.baseRef)
}

/** A digest of everything that the evaluation shows to users. */
export async function computeEvaluationReportDigest(
  evaluation: PullEvaluation,
  ctx: JobContext<MergeRecordStore>,
): Promise<string> {
  const shown = composePullReport(evaluation, ctx, {
    meanwhile: await readMergesSinceEvaluation(evaluation, ctx),
  })
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex')
}

/**
 * Publishes the report and records which head was shown and when, because commands bind to it. `how`: see
 * publishPullReport().
 */
export async function publishEvaluation(
  evaluation: PullEvaluation,
  ctx: JobContext<Required<PullHistoryStore> & StateStore & MergeRecordStore>,
  how: Pick<PublishPullReportOptions, 'present' | 'isRestLater'> = {},
): Promise<void> {
  const { snapshot, epoch, described } = evaluation
  const meanwhile = await readMergesSinceEvaluation(evaluation, ctx)
  const compose: PullReportComposer = (runs) => composePullReport(evaluation, ctx, { runs, meanwhile })
  const at = await publishPullReport(ctx.forge, compose, snapshot.pull, snapshot.head, how)
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

export async function requestReviews(
  verdict: PullVerdict,
  snapshot: PullSnapshot,
  { forge, app }: JobContext<StateStore>,
): Promise<void> {
  const author = snapshot.author?.login.toLowerCase()
  // Approvals cannot resolve blocking findings, so do not ask for them yet.
  if (verdict.kind === 'blocked') return
  // Exclude users who already requested changes; the comment explains how to confirm or merge.
  const waiting = verdict.waiting.filter(({ how, isAgreed }) => isAgreed !== true && how !== 'withdraws')
  const people = collectUnblockingUsers(waiting).filter((name) => name.toLowerCase() !== author)
  if (people.length === 0) return
  const key = String(snapshot.pull)
  const alreadyRequested = new Set(
    await app.store.readState(requestedReviewersStateNamespace, forge.repository, key),
  )
  const open = people.slice(0, maxRequestedReviewers).filter((name) => !alreadyRequested.has(name))
  if (open.length === 0) return
  const organization = `${forge.repository.owner.toLowerCase()}/`
  try {
    await forge.perform({
      kind: 'request-reviews',
      pull: snapshot.pull,
      users: open.filter((name) => !name.includes('/')),
      teams: open
        .filter((name) => name.toLowerCase().startsWith(organization))
        .map((name) => name.slice(organization.length)),
    })
  } catch (error) {
    // GitHub rejects reviewers who are not collaborators; the comment mentions them instead.
    if (!(error instanceof ForgeError) || error.code !== 'rejected') throw error
  }
  await app.store.writeState(
    requestedReviewersStateNamespace,
    forge.repository,
    new Map([[key, [...alreadyRequested, ...open]]]),
  )
}
