import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { formatFreezeAuthor, type MergeFreeze } from '../../policy/merge-freeze.ts'
import type { Cache } from '../../ports/cache.ts'
import type { MergeIntent, MergeRecordStore, MergeFreezeStore } from '../../ports/merge-records.ts'
import type { RecordedRepository, StatusPageStore, PullRecord } from '../../ports/status-page-store.ts'
import type { HomePageModel, BadgeModel } from '../pages/overview-page.ts'
import type { PullDisplayState } from '../pages/page-elements.ts'
import type { VerdictKind } from '../../policy/verdict.ts'
import {
  freezeEventFields,
  freezeFields,
  mergedPullFields,
  pullFields,
  queueFilterStates,
  type QueueFilter,
  type QueuedPullView,
  type QueuePageModel,
  type MergeFreezeView,
  type MergedPullsPageModel,
} from '../pages/queue-page.ts'
import { readRateLimitedPulls, readRateLimitedJobs } from '../../jobs/rate-limit-waits.ts'

export type QueuePageStore = StatusPageStore & MergeFreezeStore & MergeRecordStore & Cache

/** In JSON, and among which the author and the package are searched. */
const maxListedPulls = 1000
const pullsPerPage = 50
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

/** Only these fields, so that a field that is added to a record does not become public. */
export function pickFields<Of extends object, Name extends keyof Of>(
  record: Of,
  names: readonly Name[],
): Pick<Of, Name> {
  const present = names.filter((name) => record[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, record[name]])) as Pick<Of, Name>
}

/** Trims and truncates what a visitor typed. Empty and unknown values select everything. */
export function parseQueueFilter(query: URLSearchParams): QueueFilter {
  const read = (name: string) => query.get(name)?.trim().slice(0, 100) ?? ''
  const state = queueFilterStates.find((one) => one === read('state'))
  const after = /^\d{1,9}$/.test(read('after')) ? Number(read('after')) : undefined
  const [author, packageName] = [read('author'), read('package')]
  return {
    ...(state !== undefined && { state }),
    ...(author !== '' && { author }),
    ...(packageName !== '' && { package: packageName }),
    ...(after !== undefined && { after }),
  }
}

/** `isPaged`: reads one page of the list. Otherwise, the first thousand pull requests. */
export async function readQueuePageModel(
  store: QueuePageStore,
  { repository, isPublic }: RecordedRepository,
  webUrl: string,
  { filter, isPaged }: { readonly filter: QueueFilter; readonly isPaged: boolean },
): Promise<QueuePageModel> {
  const isSearch = filter.author !== undefined || filter.package !== undefined
  const limit = isPaged && !isSearch ? pullsPerPage + 1 : maxListedPulls
  const [found, counts, openMerges, stops, events] = await Promise.all([
    store.listOpenPullRecords(repository, limit, { verdict: filter.state, after: filter.after }),
    countOpenPulls(store, repository),
    store.listPendingMerges(repository),
    store.listFreezes(repository),
    store.listFreezeEvents(repository, maxDisplayedFreezeEvents),
  ])
  const matching = isSearch ? found.filter((row) => matchesQueueFilter(row, filter)) : found
  const rows = isPaged ? matching.slice(0, pullsPerPage) : matching
  const [merging, limited] = await Promise.all([
    openMerges.length > 0
      ? store.listOpenPullRecords(repository, openMerges.length, {
          pulls: openMerges.map(({ pull }) => pull),
        })
      : [],
    summarizeRateLimitedJobs(store, repository, rows),
  ])
  return {
    repository,
    isPublic,
    limited,
    url: `${webUrl}/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}/pulls`,
    filter,
    counts,
    pulls: rows.map((row) => toQueuedPullView(row, openMerges)),
    isCut: found.length === maxListedPulls,
    ...(matching.length > rows.length && { next: rows.at(-1)?.pull }),
    merging: openMerges.map(({ pull, baseRef, begunAt, method }) => {
      const row = merging.find((one) => one.pull === pull)
      return {
        pull,
        ...(row && pickFields(row, ['title', 'author'])),
        baseRef,
        ...(begunAt !== undefined && { since: begunAt }),
        how: method?.kind === 'queue' ? "by GitHub's merge queue" : 'by catalog-bot',
      }
    }),
    stops: stops.map(toMergeFreezeView),
    events: events.map((event) => ({
      ...pickFields(event, freezeEventFields),
      by: formatFreezeAuthor(event.by),
    })),
  }
}

function matchesQueueFilter({ author, title, packages = [] }: PullRecord, filter: QueueFilter): boolean {
  const name = filter.package?.toLowerCase() ?? ''
  return (
    (filter.author === undefined || author?.toLowerCase() === filter.author.toLowerCase()) &&
    [title, ...packages].some((text) => text.toLowerCase().includes(name))
  )
}

async function countOpenPulls(
  store: QueuePageStore,
  repository: RepositoryName,
): Promise<Readonly<Partial<Record<VerdictKind, number>>>> {
  const counts = await store.countOpenPulls()
  return Object.fromEntries(
    counts
      .filter((one) => one.repository === toRepositoryKey(repository))
      .map(({ verdict, pulls }) => [verdict, pulls]),
  )
}

async function summarizeRateLimitedJobs(
  store: QueuePageStore,
  repository: RepositoryName,
  shown: readonly PullRecord[],
): Promise<QueuePageModel['limited']> {
  const works = await readRateLimitedJobs(
    repository,
    [...new Set(shown.map(({ baseRef }) => baseRef))],
    store,
  )
  const countWaiting = async () => {
    const rows = await store.listOpenPullRecords(repository, maxListedPulls)
    const waits = await readRateLimitedPulls(
      repository,
      rows.map(({ pull }) => pull),
      store,
    )
    return rows.filter(({ pull, lookedAt }) => lookedAt < (waits.get(pull)?.since ?? 0)).length
  }
  const limited: QueuePageModel['limited'][number][] = []
  for (const kind of rateLimitedJobKinds) {
    const its = works.filter((work) => work.kind === kind).map(({ until }) => until)
    if (its.length > 0)
      limited.push({ kind, until: Math.max(...its), ...(kind === 'pull' && { pulls: await countWaiting() }) })
  }
  return limited
}

const rateLimitedJobKinds = ['train', 'pull', 'sweep', 'scan'] as const

/** A pull request is behind if another one merges into its branch. */
export function decidePullDisplayState(
  row: Pick<PullRecord, 'pull' | 'baseRef' | 'state' | 'verdict'> | undefined,
  openMerges: readonly MergeIntent[],
): PullDisplayState {
  if (row?.state !== 'open') return row?.state ?? 'closed'
  if (openMerges.some(({ pull }) => pull === row.pull)) return 'merging'
  const isBehind = row.verdict === 'merge' && openMerges.some(({ baseRef }) => baseRef === row.baseRef)
  return isBehind ? 'behind' : row.verdict
}

function toQueuedPullView(row: PullRecord, openMerges: readonly MergeIntent[]): QueuedPullView {
  const state = decidePullDisplayState(row, openMerges)
  const before = openMerges.find(({ baseRef }) => baseRef === row.baseRef)
  return {
    ...pickFields(row, ['pull', 'reasons', ...pullFields]),
    state,
    who: [...new Set(row.reasons.flatMap(({ who = [] }) => who))],
    ...(state === 'behind' && before && { behind: before.pull }),
  }
}

function toMergeFreezeView(freeze: MergeFreeze): MergeFreezeView {
  const { branch, kind, by } = freeze
  return {
    ...pickFields(freeze, freezeFields),
    by: formatFreezeAuthor(by),
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
    pulls: shown.map((merged) => pickFields(merged, ['repository', ...mergedPullFields])),
    ...(pulls.length > mergedPullsPerPage && last !== undefined && { before: last.id }),
  }
}

export async function readBadgeModel(
  store: QueuePageStore,
  { repository }: RecordedRepository,
): Promise<BadgeModel> {
  const [counts, stops] = await Promise.all([
    countOpenPulls(store, repository),
    store.listFreezes(repository),
  ])
  return { open: Object.values(counts).reduce((sum, pulls) => sum + pulls, 0), stops: stops.length }
}
