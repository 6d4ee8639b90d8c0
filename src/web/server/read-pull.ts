// Reads one pull request's history from the store; merges come from the merge records.
import { maxPullNumber, toPullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import {
  compareFindingsBySeverity,
  formatCheckOutcomeLines,
  locateFindingOnGitHub,
} from '../../report/describe-findings.ts'
import { formatFixAsDiff } from '@catalog-bot/findings/finding'
import { collectRequiredCheckErrors, decideNextSteps } from '../../report/next-steps.ts'
import {
  collectMergesSinceEvaluation,
  describeMergesSinceEvaluation,
} from '../../report/evaluation-report.ts'
import { toFindingIdentityKey } from '../../report/report-options.ts'
import { decidePullDisplayState, pickFields } from './read-queue.ts'
import type { Cache } from '../../ports/cache.ts'
import type { MergeRecordStore, MergeFreezeStore } from '../../ports/merge-records.ts'
import type {
  MergedPullRecord,
  StatusPageStore,
  VerdictStore,
  PullRecord,
  VerdictRecord,
} from '../../ports/status-page-store.ts'
import type { PullHistoryStore } from '../../ports/pull-history.ts'
import type { StateStore } from '../../ports/state.ts'
import { formatPullUrl, type PullUrlParts } from '../../report/urls.ts'
import {
  findingFields,
  mergeFields,
  pullPageFields,
  type MergeExplanation,
  type PullPageModel,
  type FindingView,
} from '../pages/pull-page.ts'
import { type StoredEvaluationReport, pullPublicationStateNamespace } from '../../jobs/merged-report.ts'
import { readRateLimitedPulls } from '../../jobs/rate-limit-waits.ts'

type PullPageStore = StatusPageStore &
  VerdictStore &
  MergeRecordStore &
  MergeFreezeStore &
  PullHistoryStore &
  StateStore &
  Cache

const maxDisplayedVerdictChanges = 200
const maxDisplayedFindings = 100
const maxDisplayedCatalogChangeLines = 60

/** Undefined if catalog-bot never evaluated it. */
export async function readPullPageModel(
  store: PullPageStore,
  repository: RepositoryName,
  number: number,
  web: string,
): Promise<PullPageModel | undefined> {
  if (!Number.isSafeInteger(number) || number > maxPullNumber) return undefined
  const pull = toPullNumber(number)
  const [row, merged, history, commands, openMerges, parked, recordedMerge, limited] = await Promise.all([
    store.findPullRecord(repository, pull),
    store.mergedPull(repository, pull),
    store.verdictChanges(repository, pull, maxDisplayedVerdictChanges),
    store.commands(repository, pull),
    store.listPendingMerges(repository),
    store.parkedPull(repository, pull),
    store.findMerge(repository, pull),
    readRateLimitedPulls(repository, [pull], store),
  ])
  if (row === undefined && merged === undefined) return undefined
  const page = { web, repository, pull }
  const record = await store.verdictReport(repository, pull, recordedMerge)
  const report = record?.report as StoredEvaluationReport | undefined
  const commits = report === undefined ? [] : collectMergesSinceEvaluation(report)
  const merges = commits.length === 0 ? new Map() : await store.findPullsOfCommits(repository, commits)
  const published = merged && (await store.readState(pullPublicationStateNamespace, repository, String(pull)))
  const wait = limited.get(pull)
  return {
    ...(row === undefined ? summarizeMergeRecord(merged) : pickFields(row, pullPageFields)),
    repository,
    pull: number,
    url: formatPullUrl(page),
    state: merged === undefined ? decidePullDisplayState(row, openMerges) : 'merged',
    ...(report && row?.state === 'open' && { steps: decideNextSteps(report.verdict) }),
    findings: report === undefined ? [] : toFindingViews(report, page),
    ...(report && { meanwhile: describeMergesSinceEvaluation(report, merges, page, report.verdict.baseRef) }),
    ...(report?.summary !== undefined && { summary: report.summary }),
    changeLines: report?.changeLines.slice(0, maxDisplayedCatalogChangeLines) ?? [],
    drawings: report?.drawings ?? [],
    commands: commands.map(({ login, command, outcome, head }) => ({ login, command, outcome, head })),
    history,
    ...(merged && { endedAt: merged.mergedAt, merge: toMergeExplanation(merged, row, record, published) }),
    ...(parked && merged === undefined && { waitsUntil: { at: parked.tryAgainAt, reason: parked.reason } }),
    // A later evaluation means that the wait is over.
    ...(wait && row?.state === 'open' && row.lookedAt < wait.since && { limitedUntil: wait.until }),
  }
}

/** For merges older than the evaluation records. */
function summarizeMergeRecord(merged: MergedPullRecord | undefined) {
  if (merged === undefined) throw new TypeError('no evaluation or merge is recorded')
  const { title, baseRef, head, begunAt } = merged
  return {
    title,
    draft: false,
    baseRef,
    head,
    since: begunAt,
    openedAt: begunAt,
    lookedAt: begunAt,
    reasons: [],
    checks: [],
    approvals: [],
  }
}

function toMergeExplanation(
  merged: MergedPullRecord,
  row: PullRecord | undefined,
  record: Pick<VerdictRecord, 'decidedAt' | 'report'> | undefined,
  published: MergeExplanation['published'],
): MergeExplanation {
  const verdict = (record?.report as StoredEvaluationReport | undefined)?.verdict
  return {
    ...pickFields(merged, mergeFields),
    ...(record &&
      verdict && {
        verdict: {
          decidedAt: record.decidedAt,
          checks: formatCheckOutcomeLines(verdict.outcomes),
          reasons: verdict.reasons,
          config: verdict.config,
        },
      }),
    approvals: row?.approvals ?? [],
    ...(published && { published: { state: published.state, lines: published.lines } }),
  }
}
/** Those that block the merge first. */
function toFindingViews(report: StoredEvaluationReport, page: PullUrlParts): readonly FindingView[] {
  const { verdict, fixes = [], excerpts = [], lines } = report
  const blocking = new Set(collectRequiredCheckErrors(verdict))
  return verdict.outcomes
    .flatMap(({ findings }) => findings)
    .toSorted((a, b) => Number(blocking.has(b)) - Number(blocking.has(a)) || compareFindingsBySeverity(a, b))
    .slice(0, maxDisplayedFindings)
    .map((finding) => {
      const { at, overridden, isOnBase } = finding
      const key = toFindingIdentityKey(finding)
      const location = locateFindingOnGitHub(finding, verdict, { page, lines, fixes })
      const excerpt = excerpts.find((one) => one.finding === key)
      const suggested = fixes.find((one) => one.finding === key)
      return {
        ...pickFields(finding, findingFields),
        isBlocking: blocking.has(finding),
        ...(at !== undefined && { at: `${at.file}:${at.line}` }),
        ...(location?.url !== undefined && { url: location.url }),
        ...(at && excerpt && { excerpt: { first: excerpt.first, marked: at.line, lines: excerpt.lines } }),
        ...(suggested && { diff: formatFixAsDiff(suggested.fix) }),
        ...(isOnBase === true && { isOnBase }),
        ...(overridden !== undefined && { overriddenBy: overridden.by }),
      }
    })
}
