// Reads one pull request's history from the store; merges come from the merge records.
import { pullNumber } from '../../change/ids.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { checkLines } from '../../messages/check-lines.ts'
import type { Cache } from '../../ports/cache.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { Landings } from '../../ports/landings.ts'
import type { MergedPull, PageRecords, PullRow } from '../../ports/page-records.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import type { VerdictRecord } from '../../ports/verdicts.ts'
import { pullLink } from '../../messages/links.ts'
import type { MergeAccount, PullModel, ShownFinding } from '../../web/pages/pull-page.ts'
import { bySeverity } from '../../messages/describe-findings.ts'
import type { StoredReport } from '../jobs/report-merged.ts'
import { waitingLooks } from '../jobs/limit-waits.ts'
import { toldPulls } from '../jobs/publish/publication-state.ts'

type PullRecords = PageRecords & Landings & LandingStops & PullMemory & State & Cache

const mostChanges = 200
const mostFindings = 100
const mostLines = 60

/** Undefined if the bot never evaluated it. */
export async function readPull(
  store: PullRecords,
  repository: RepositoryName,
  number: number,
  web: string,
): Promise<PullModel | undefined> {
  if (!Number.isSafeInteger(number) || number > 2_147_483_647) return undefined
  const pull = pullNumber(number)
  const [row, merged, history, commands, landings, parked, landing, limited] = await Promise.all([
    store.pullRow(repository, pull),
    store.mergedPull(repository, pull),
    store.verdictChanges(repository, pull, mostChanges),
    store.commands(repository, pull),
    store.openLandings(repository),
    store.parkedPull(repository, pull),
    store.landingOf(repository, pull),
    waitingLooks(repository, [pull], store),
  ])
  if (row === undefined && merged === undefined) return undefined
  const record = await store.verdictReport(repository, pull, landing)
  const report = record?.report as StoredReport | undefined
  const published = merged && (await store.readState(toldPulls, repository, String(pull)))
  const isMerging = landings.some((one) => one.pull === pull)
  const wait = limited.get(pull)
  const before = landings.find((one) => one.baseRef === row?.baseRef && one.pull !== pull)
  return {
    ...(row === undefined ? ofMerge(merged) : ofRow(row)),
    repository,
    pull: number,
    url: pullLink({ web, repository, pull }),
    state:
      merged !== undefined
        ? 'merged'
        : row === undefined || row.state !== 'open'
          ? row?.state === 'merged'
            ? 'merged'
            : 'closed'
          : isMerging
            ? 'merging'
            : row.verdict === 'merge' && before !== undefined
              ? 'behind'
              : row.verdict,
    findings: report === undefined ? [] : findingsOf(report),
    changeLines: report?.changeLines.slice(0, mostLines) ?? [],
    commands: commands.map(({ login, command, outcome, head }) => ({ login, command, outcome, head })),
    history,
    ...(merged && {
      endedAt: merged.mergedAt,
      merge: account(merged, row, record, published),
    }),
    ...(parked && merged === undefined && { waitsUntil: { at: parked.tryAgainAt, reason: parked.reason } }),
    // A later evaluation means that the wait is over.
    ...(wait && row?.state === 'open' && row.lookedAt < wait.since && { limitedUntil: wait.until }),
  }
}

type Known = Omit<
  PullModel,
  'repository' | 'pull' | 'url' | 'state' | 'findings' | 'changeLines' | 'commands' | 'history'
>

function ofRow(row: PullRow): Known {
  const {
    title,
    author,
    draft,
    baseRef,
    head,
    since,
    openedAt,
    lookedAt,
    endedAt,
    reasons,
    checks,
    approvals,
  } = row
  return {
    title,
    ...(author !== undefined && { author }),
    draft,
    baseRef,
    head,
    since,
    openedAt,
    lookedAt,
    ...(endedAt !== undefined && { endedAt }),
    reasons,
    checks,
    approvals,
  }
}

/** For merges older than the evaluation records. */
function ofMerge(merged: MergedPull | undefined): Known {
  if (merged === undefined) throw new TypeError('neither a look nor a merge is on record')
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

function account(
  merged: MergedPull,
  row: PullRow | undefined,
  record: Pick<VerdictRecord, 'decidedAt' | 'report'> | undefined,
  published: MergeAccount['published'],
): MergeAccount {
  const { commit, baseRef, base, head, begunAt, mergedAt } = merged
  const verdict = (record?.report as StoredReport | undefined)?.verdict
  return {
    commit,
    baseRef,
    base,
    head,
    begunAt,
    mergedAt,
    ...(record &&
      verdict && {
        verdict: {
          decidedAt: record.decidedAt,
          checks: checkLines(verdict.outcomes),
          reasons: verdict.reasons,
          config: verdict.config,
        },
      }),
    approvals: row?.approvals ?? [],
    ...(published && { published: { state: published.state, lines: published.lines } }),
  }
}

function findingsOf({ verdict }: StoredReport): readonly ShownFinding[] {
  return verdict.outcomes
    .flatMap(({ findings }) => findings)
    .toSorted(bySeverity)
    .slice(0, mostFindings)
    .map(({ rule, severity, what, fix, at, overridden }) => ({
      rule,
      severity,
      what,
      fix,
      ...(at !== undefined && { at: `${at.file}:${at.line}` }),
      ...(overridden !== undefined && { overriddenBy: overridden.by }),
    }))
}
