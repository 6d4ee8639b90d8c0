import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { formatFreezeAuthor, type MergeFreeze } from '../../policy/merge-freeze.ts'
import type { Cache } from '../../ports/cache.ts'
import type { MergeIntent, MergeRecordStore, MergeFreezeStore } from '../../ports/merge-records.ts'
import type { RecordedRepository, StatusPageStore, PullRecord } from '../../ports/page-records.ts'
import type { HomePageModel, BadgeModel } from '../pages/overview-page.ts'
import type {
  QueuedPullView,
  QueuePageModel,
  MergeFreezeView,
  MergedPullsPageModel,
} from '../pages/queue-page.ts'
import { readRateLimitedPulls, readRateLimitedJobs } from '../../jobs/rate-limit-waits.ts'

export type QueuePageStore = StatusPageStore & MergeFreezeStore & MergeRecordStore & Cache

const maxDisplayedPulls = 1000
const maxDisplayedFreezeEvents = 20
const mergedPullsPerPage = 50

export async function readHomePageModel(
  store: QueuePageStore,
  listed: readonly RecordedRepository[],
): Promise<HomePageModel> {
  const [counts, stops] = await Promise.all([store.countOpenPulls(), store.listFreezes()])
  const last = new Map<string, { pull: number; at: number }>()
  // The newest merges of all repositories suffice; a repository without recent merges shows none.
  for (const { repository, pull, mergedAt } of await store.mergedPulls(
    listed.map((one) => one.repository),
    200,
  ))
    if (!last.has(toRepositoryKey(repository))) last.set(toRepositoryKey(repository), { pull, at: mergedAt })
  return {
    repositories: listed.map(({ repository, isPublic }) => {
      const key = toRepositoryKey(repository)
      const lastMerge = last.get(key)
      return {
        repository,
        isPublic,
        open: Object.fromEntries(
          counts.filter((one) => one.repository === key).map(({ verdict, pulls }) => [verdict, pulls]),
        ),
        stops: stops.filter((stop) => toRepositoryKey(stop.repository) === key).length,
        ...(lastMerge && { lastMerge }),
      }
    }),
  }
}

export async function readQueuePageModel(
  store: QueuePageStore,
  { repository, isPublic }: RecordedRepository,
  webUrl: string,
): Promise<QueuePageModel> {
  const [rows, openMerges, stops, events] = await Promise.all([
    store.listOpenPullRecords(repository, maxDisplayedPulls),
    store.listPendingMerges(repository),
    store.listFreezes(repository),
    store.listFreezeEvents(repository, maxDisplayedFreezeEvents),
  ])
  const branches = [...new Set(rows.map(({ baseRef }) => baseRef))]
  const [rateLimitedPulls, works] = await Promise.all([
    readRateLimitedPulls(
      repository,
      rows.map(({ pull }) => pull),
      store,
    ),
    readRateLimitedJobs(repository, branches, store),
  ])
  const waiting = rows.filter(
    ({ pull, lookedAt }) => lookedAt < (rateLimitedPulls.get(pull)?.since ?? 0),
  ).length
  return {
    repository,
    isPublic,
    limited: rateLimitedJobKinds.flatMap((kind) => {
      const its = works.filter((work) => work.kind === kind).map(({ until }) => until)
      if (its.length === 0) return []
      return [{ kind, until: Math.max(...its), ...(kind === 'pull' && { pulls: waiting }) }]
    }),
    url: `${webUrl}/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}/pulls`,
    pulls: rows.map((row) => toQueuedPullView(row, openMerges)),
    isCut: rows.length === maxDisplayedPulls,
    merging: openMerges.map(({ pull, baseRef, begunAt, method }) => ({
      pull,
      baseRef,
      ...(begunAt !== undefined && { since: begunAt }),
      how: method?.kind === 'queue' ? "by GitHub's merge queue" : 'by catalog-bot',
    })),
    stops: stops.map(toMergeFreezeView),
    events: events.map(({ at, step, kind, branch, by, reason }) => ({
      at,
      step,
      kind,
      ...(branch !== undefined && { branch }),
      by: formatFreezeAuthor(by),
      reason,
    })),
  }
}

const rateLimitedJobKinds = ['train', 'pull', 'sweep', 'scan'] as const

function toQueuedPullView(row: PullRecord, openMerges: readonly MergeIntent[]): QueuedPullView {
  const { pull, title, author, baseRef, draft, since, openedAt, lookedAt, reasons, verdict } = row
  const isMerging = openMerges.some((merge) => merge.pull === pull)
  const before = openMerges.find((merge) => merge.baseRef === baseRef && merge.pull !== pull)
  const isBehind = verdict === 'merge' && !isMerging && before !== undefined
  return {
    pull,
    title,
    ...(author !== undefined && { author }),
    baseRef,
    draft,
    state: isMerging ? 'merging' : isBehind ? 'behind' : verdict,
    since,
    openedAt,
    lookedAt,
    reasons,
    who: [...new Set(reasons.flatMap(({ who = [] }) => who))],
    ...(isBehind && { behind: before.pull }),
  }
}

function toMergeFreezeView({
  branch,
  kind,
  since,
  by,
  reason,
  pull,
  tryAgainAt,
}: MergeFreeze): MergeFreezeView {
  return {
    ...(branch !== undefined && { branch }),
    kind,
    since,
    by: formatFreezeAuthor(by),
    reason,
    ...(pull !== undefined && { pull }),
    ...(tryAgainAt !== undefined && { tryAgainAt }),
    command: `/unfreeze${branch === undefined ? ' all' : ''}${kind === 'audit' ? ' audit' : ''}`,
  }
}

/** `before`: the merge below which the page begins. */
export async function readMergedPullsPageModel(
  store: StatusPageStore,
  listed: readonly RecordedRepository[],
  repository: RepositoryName | undefined,
  before: number | undefined,
): Promise<MergedPullsPageModel> {
  const pulls = await store.mergedPulls(
    listed.map((one) => one.repository),
    mergedPullsPerPage + 1,
    before,
  )
  const shown = pulls.slice(0, mergedPullsPerPage)
  const last = shown.at(-1)
  return {
    ...(repository && { repository }),
    pulls: shown.map(({ repository: of, pull, title, author, baseRef, commit, mergedAt }) => ({
      repository: of,
      pull,
      title,
      ...(author !== undefined && { author }),
      baseRef,
      commit,
      mergedAt,
    })),
    ...(pulls.length > mergedPullsPerPage && last !== undefined && { before: last.id }),
  }
}

export async function readBadgeModel(
  store: QueuePageStore,
  { repository }: RecordedRepository,
): Promise<BadgeModel> {
  const [counts, stops] = await Promise.all([store.countOpenPulls(), store.listFreezes(repository)])
  const open = counts
    .filter((one) => one.repository === toRepositoryKey(repository))
    .reduce((sum, { pulls }) => sum + pulls, 0)
  return { open, stops: stops.length }
}
