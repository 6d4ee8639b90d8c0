// Records an evaluation and publishes its report. Records the verdict, a summary for the status pages, which decides
// nothing, and the inputs that can confirm the verdict on a new base.
import { createHash } from 'node:crypto'
import type { PullReportOptions } from '../report/report-options.ts'
import { renderPullReport, type PullReport } from '../report/report.ts'
import { collectMergesSinceEvaluation, describeMergesSinceEvaluation } from '../report/evaluation-report.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import { type StateStore, defineStateNamespace } from '../ports/state.ts'
import type {
  VerdictRecord,
  StatusPageStore,
  EvaluationRecord,
  ApprovalView,
} from '../ports/status-page-store.ts'
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
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { findLatestReviewOfEachUser } from '../checks/ownership/approvals.ts'
import { formatCheckOutcomeLines } from '../report/describe-findings.ts'
import { evaluateInWorker } from './evaluate-in-worker.ts'
import { toLookupKey } from '../checks/lookups.ts'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { LookupResult } from '../catalogs/gather-lookup-results.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { Store } from '../ports/store.ts'

/** If more users are asked, none of them tends to respond. */
const maxRequestedReviewers = 5
const reviewerLoginsSchema = z.array(z.string())

const requestedReviewersStateNamespace = defineStateNamespace('requested reviews', 1, reviewerLoginsSchema)

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
  more: Pick<PullReportOptions, 'runs' | 'mergeCommit' | 'published' | 'meanwhile'> = {},
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
async function computeEvaluationReportDigest(
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

/** Same as the sweep's interval for unchanged pull requests: permissions and registries change too. */
const evaluationCacheTtlSeconds = 3600
/** Characters; larger answers are not cached. */
const maxCachedEvaluationLength = 256 * 1024

const cachedEvaluationSchema = z.object({
  at: z.number(),
  snapshot: z.custom<PullSnapshot>((value) => typeof value === 'object' && value !== null),
  answers: z.array(z.tuple([z.string(), z.custom<LookupResult>()])),
  shown: z.string(),
})

const evaluationCache = defineCacheNamespace('kept look', 1, cachedEvaluationSchema)

/** Differs from every configuration digest. */
const unmanagedBranchConfigDigest = 'not served'
const maxNamesPerVerdictReason = 20
const maxRecordedVerdictReasons = 20
const maxRecordedTextLength = 600
const maxRecordedPackages = 100

export async function recordEvaluation(
  evaluation: PullEvaluation,
  { app }: JobContext<StatusPageStore>,
): Promise<void> {
  await app.store.recordEvaluation(toEvaluationRecord(evaluation, app.clock.now()))
}

export async function recordPullClosedOrMerged(
  { repository, pull }: Pick<PullSnapshot, 'repository' | 'pull'>,
  state: 'closed' | 'merged',
  { app }: JobContext<StatusPageStore>,
): Promise<void> {
  const now = app.clock.now()
  const opened = await app.store.recordPullEnd(repository, pull, state, now)
  if (state === 'merged' && opened !== undefined)
    app.metrics.openedToMerged.observe(Math.max(0, now - opened) / 1000)
}

function toEvaluationRecord(
  { snapshot, verdict, configDigest, report }: PullEvaluation,
  at: number,
): EvaluationRecord {
  const { repository, pull, title, author, draft, head, base, baseRef, openedAt } = snapshot
  const opened = Date.parse(openedAt ?? '')
  const findings = new Map(
    verdict.outcomes
      .flatMap((outcome) => outcome.findings)
      .map(({ rule, severity }) => [rule, { rule, severity }] as const),
  )
  return {
    repository,
    pull,
    title: truncateRecordedText(title),
    ...(author !== null && { author: author.login }),
    draft,
    head,
    base,
    baseRef,
    config: configDigest,
    ...(Number.isFinite(opened) && { openedAt: opened }),
    verdict: verdict.kind,
    reasons: verdict.reasons
      .slice(0, maxRecordedVerdictReasons)
      .map(({ code, text, who }) => ({
        code,
        text: truncateRecordedText(text),
        ...(who !== undefined && who.length > 0 && { who: who.slice(0, maxNamesPerVerdictReason) }),
      })),
    checks: formatCheckOutcomeLines(verdict.outcomes).map(truncateRecordedText),
    approvals: toApprovalViews(snapshot),
    packages: report.packages?.slice(0, maxRecordedPackages).map(truncateRecordedText),
    findings: [...findings.values()],
    at,
  }
}

/** Each user's latest review. */
function toApprovalViews({ reviews }: PullSnapshot): readonly ApprovalView[] {
  return findLatestReviewOfEachUser(reviews).flatMap(({ author, state, commit, submittedAt }) =>
    author !== null && (state === 'approved' || state === 'changes-requested')
      ? [{ login: author.login, state, commit, at: submittedAt }]
      : [],
  )
}

function truncateRecordedText(text: string): string {
  return text.length <= maxRecordedTextLength
    ? text
    : `${text.slice(0, maxRecordedTextLength - 1).toWellFormed()}…`
}

/**
 * Does not evaluate pull requests for unserved branches, but records them, so that earlier approvals do not count when
 * the pull request returns to a served branch. Rejects with a StoreError.
 */
export async function recordPullOnUnmanagedBranch(
  { repository, pull, head, baseRef, reviews }: PullSnapshot,
  store: Pick<PullHistoryStore, 'observe' | 'firstSeenReviews'>,
): Promise<void> {
  const epoch = await store.observe(repository, pull, { head, baseRef, config: unmanagedBranchConfigDigest })
  // GitHub does not report a review's base branch, so a review first seen here does not count after the return.
  await store.firstSeenReviews(
    repository,
    pull,
    epoch,
    reviews.map(({ id }) => id),
  )
}

/**
 * Caches the inputs of a waiting pull request's evaluation for an hour. When its base moves, it is evaluated again
 * without requests. This can only confirm the verdict: any difference needs a full evaluation, and no permit is
 * created.
 */
export async function cacheEvaluation(
  evaluation: PullEvaluation,
  answers: ReadonlyMap<string, LookupResult>,
  ctx: JobContext<Store>,
): Promise<void> {
  const { store, clock } = ctx.app
  const { snapshot } = evaluation
  const key = toPullRequestKey(snapshot.repository, snapshot.pull)
  const shown = await computeEvaluationReportDigest(evaluation, ctx)
  const cachedInputs = { at: clock.now(), snapshot, answers: [...answers], shown }
  // Unanswered questions are asked again anyway.
  const isComplete = [...answers.values()].every(({ kind }) => kind !== 'unknown')
  const isCacheable = isComplete && JSON.stringify(cachedInputs).length <= maxCachedEvaluationLength
  // Zero removes the inputs of an earlier evaluation, which no longer match the report.
  const seconds = isCacheable ? evaluationCacheTtlSeconds : 0
  await store.putCached(evaluationCache, new Map([[key, cachedInputs]]), seconds)
}

/** The pull requests that GitHub shows with the same update time as listed, and as their cached evaluations saw them. */
export async function findPullsUnchangedSinceEvaluation(
  listed: readonly OpenPullSummary[],
  { app, forge }: JobContext<Cache>,
): Promise<ReadonlySet<PullNumber>> {
  const keys = listed.map(({ pull }) => toPullRequestKey(forge.repository, pull))
  const snapshots = [...(await app.store.getCached(evaluationCache, keys)).values()].map(
    (one) => one.snapshot,
  )
  const same = await forge.findUnchanged?.(snapshots)
  return new Set(listed.filter((open) => same?.get(open.pull) === open.updatedAt).map(({ pull }) => pull))
}

/**
 * Returns for how many more seconds the cached inputs confirm the published verdict on the new tip, or undefined if a
 * full evaluation is needed.
 */
export async function revalidateCachedVerdictOnNewBase(
  open: OpenPullSummary,
  tip: CommitSha,
  ctx: JobContext<Store>,
  openPulls: readonly OpenPullSummary[],
): Promise<number | undefined> {
  const { app, forge, repository } = ctx
  const key = toPullRequestKey(forge.repository, open.pull)
  const cachedInputs = (await app.store.getCached(evaluationCache, [key])).get(key)
  if (cachedInputs === undefined) return undefined
  const remainingSeconds = Math.floor(evaluationCacheTtlSeconds - (app.clock.now() - cachedInputs.at) / 1000)
  const { snapshot } = cachedInputs
  if (remainingSeconds <= 0 || snapshot.head !== open.head || snapshot.baseRef !== open.baseRef)
    return undefined
  if (snapshot.base === tip) return remainingSeconds
  if ((await repository.pullHead(open.pull)) !== open.head) return undefined
  const answers = new Map(cachedInputs.answers)
  let hasAll = true
  const evaluation = await evaluateInWorker({ ...snapshot, base: tip }, ctx, undefined, {
    openPulls: () => Promise.resolve(openPulls),
    ask: (question) => {
      const known = answers.get(toLookupKey(question))
      if (known === undefined) hasAll = false
      return Promise.resolve(
        known ?? { kind: 'unknown', reason: 'this information was not looked up', retryAfter: 60 },
      )
    },
  })
  if (!hasAll || evaluation.verdict.permit !== undefined || evaluation.commands.length > 0) return undefined
  if ((await computeEvaluationReportDigest(evaluation, ctx)) !== cachedInputs.shown) return undefined
  await app.store.recordVerdict(toVerdictRecord(evaluation, app.clock.now()))
  return remainingSeconds
}
