// Records a summary of each evaluation for the pages. Decides nothing.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { findLatestReviews } from '../checks/ownership/approvals.ts'
import { formatCheckOutcomeLines } from '../report/check-lines.ts'
import type { StatusPageStore, EvaluationRecord, ApprovalView } from '../ports/page-records.ts'
import type { JobContext } from '../jobs/job-context.ts'
import type { PullEvaluation } from './evaluate-snapshot.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'

/** Differs from every configuration digest. */
const unservedBranchConfigDigest = 'not served'

const maxNamesPerVerdictReason = 20
const maxRecordedVerdictReasons = 20
const maxRecordedTextLength = 600

export async function recordEvaluation(
  evaluation: PullEvaluation,
  { app }: JobContext<StatusPageStore>,
): Promise<void> {
  await app.store.recordEvaluation(toEvaluationSummary(evaluation, app.clock.now()))
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

function toEvaluationSummary(
  { snapshot, verdict, configDigest }: PullEvaluation,
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
    title: truncateText(title),
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
      text: truncateText(text),
      ...(who !== undefined && who.length > 0 && { who: who.slice(0, maxNamesPerVerdictReason) }),
    })),
    checks: formatCheckOutcomeLines(verdict.outcomes).map(truncateText),
    approvals: toApprovalViews(snapshot),
    findings: [...findings.values()],
    at,
  }
}

/** Each person's latest review. */
function toApprovalViews({ reviews }: PullSnapshot): readonly ApprovalView[] {
  return findLatestReviews(reviews).flatMap(({ author, state, commit, submittedAt }) =>
    author !== null && (state === 'approved' || state === 'changes-requested')
      ? [{ login: author.login, state, commit, at: submittedAt }]
      : [],
  )
}

function truncateText(text: string): string {
  return text.length <= maxRecordedTextLength
    ? text
    : `${text.slice(0, maxRecordedTextLength - 1).toWellFormed()}…`
}

/** Rejects with a StoreError. */
export async function recordPullOnUnservedBranch(
  { repository, pull, head, baseRef, reviews }: PullSnapshot,
  store: Pick<PullHistoryStore, 'observe' | 'firstSeenReviews'>,
): Promise<void> {
  const epoch = await store.observe(repository, pull, { head, baseRef, config: unservedBranchConfigDigest })
  // GitHub does not tell a review's base branch; one first seen here does not count after the return.
  await store.firstSeenReviews(
    repository,
    pull,
    epoch,
    reviews.map(({ id }) => id),
  )
}
