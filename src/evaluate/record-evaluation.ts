// Records each evaluation: a summary for the pages, which decides nothing, and a cached verdict that holds until an
// input changes.
import { z } from 'zod'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { findLatestReviewOfEachUser } from '../checks/ownership/approvals.ts'
import { formatCheckOutcomeLines } from '../report/describe-findings.ts'
import type { StatusPageStore, EvaluationRecord, ApprovalView } from '../ports/status-page-store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { evaluateSnapshot } from './evaluate-snapshot.ts'
import type { PullEvaluation } from './pull-evaluation.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import { toLookupKey } from '../checks/lookups.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import { toPullRequestKey } from '../pull-request/snapshot.ts'
import type { LookupResult } from '../catalogs/gather-lookup-results.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { Store } from '../ports/store.ts'
import { computeEvaluationReportDigest, toVerdictRecord } from './publish-evaluation.ts'

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

const evaluationCache = defineCacheNamespace<z.infer<typeof cachedEvaluationSchema>>('kept look', {
  version: 1,
  read: (stored) => cachedEvaluationSchema.safeParse(stored).data,
})

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
    reasons: verdict.reasons.slice(0, maxRecordedVerdictReasons).map(({ code, text, who }) => ({
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
  // Unanswered questions are asked again anyway.
  if ([...answers.values()].some(({ kind }) => kind === 'unknown')) return
  const shown = await computeEvaluationReportDigest(evaluation, ctx)
  const cachedInputs = { at: clock.now(), snapshot, answers: [...answers], shown }
  if (JSON.stringify(cachedInputs).length > maxCachedEvaluationLength) return
  await store.putCached(
    evaluationCache,
    new Map([[toPullRequestKey(snapshot.repository, snapshot.pull), cachedInputs]]),
    evaluationCacheTtlSeconds,
  )
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
  if ((await repository.pullHead(open.pull)) !== open.head) return undefined
  const answers = new Map(cachedInputs.answers)
  let hasAll = true
  const evaluation = await evaluateSnapshot({ ...snapshot, base: tip }, ctx, undefined, {
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
