import type { RepositoryName } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import { sayAuthor, type LandingStop } from '../../gate/landing-stop.ts'
import type { Cache } from '../../ports/cache.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { Intent, Landings } from '../../ports/landings.ts'
import type { ListedRepository, PageRecords, PullRow } from '../../ports/page-records.ts'
import type { BadgeModel } from '../../web/pages/badge.ts'
import type { HomeModel } from '../../web/pages/home-page.ts'
import type { MergedModel } from '../../web/pages/merged-page.ts'
import type { QueuedPull, QueueModel, ShownStop } from '../../web/pages/queue-page.ts'
import { waitingLooks, waitingWork } from '../jobs/limit-waits.ts'

export type QueueRecords = PageRecords & LandingStops & Landings & Cache

const mostPulls = 1000
const mostEvents = 20
const mergedOnPage = 50

export async function readHome(store: QueueRecords, listed: readonly ListedRepository[]): Promise<HomeModel> {
  const [counts, stops] = await Promise.all([store.countOpenPulls(), store.landingStops()])
  const last = new Map<string, { pull: number; at: number }>()
  // The newest merges of all repositories suffice; a repository without recent merges shows none.
  for (const { repository, pull, mergedAt } of await store.mergedPulls(
    listed.map((one) => one.repository),
    200,
  ))
    if (!last.has(repositoryKey(repository))) last.set(repositoryKey(repository), { pull, at: mergedAt })
  return {
    repositories: listed.map(({ repository, isPublic }) => {
      const key = repositoryKey(repository)
      const lastMerge = last.get(key)
      return {
        repository,
        isPublic,
        open: Object.fromEntries(
          counts.filter((one) => one.repository === key).map(({ verdict, pulls }) => [verdict, pulls]),
        ),
        stops: stops.filter((stop) => repositoryKey(stop.repository) === key).length,
        ...(lastMerge && { lastMerge }),
      }
    }),
  }
}

export async function readQueue(
  store: QueueRecords,
  { repository, isPublic }: ListedRepository,
  webUrl: string,
): Promise<QueueModel> {
  const [rows, landings, stops, events] = await Promise.all([
    store.openPullRows(repository, mostPulls),
    store.openLandings(repository),
    store.landingStops(repository),
    store.stopEvents(repository, mostEvents),
  ])
  const branches = [...new Set(rows.map(({ baseRef }) => baseRef))]
  const [looks, works] = await Promise.all([
    waitingLooks(
      repository,
      rows.map(({ pull }) => pull),
      store,
    ),
    waitingWork(repository, branches, store),
  ])
  const waiting = rows.filter(({ pull, lookedAt }) => lookedAt < (looks.get(pull)?.since ?? 0)).length
  return {
    repository,
    isPublic,
    limited: limitedKinds.flatMap((kind) => {
      const its = works.filter((work) => work.kind === kind).map(({ until }) => until)
      if (its.length === 0) return []
      return [{ kind, until: Math.max(...its), ...(kind === 'pull' && { pulls: waiting }) }]
    }),
    url: `${webUrl}/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}/pulls`,
    pulls: rows.map((row) => queued(row, landings)),
    isCut: rows.length === mostPulls,
    merging: landings.map(({ pull, baseRef, begunAt, method }) => ({
      pull,
      baseRef,
      ...(begunAt !== undefined && { since: begunAt }),
      how: method?.kind === 'queue' ? "by GitHub's merge queue" : 'by the bot',
    })),
    stops: stops.map(shownStop),
    events: events.map(({ at, step, kind, branch, by, reason }) => ({
      at,
      step,
      kind,
      ...(branch !== undefined && { branch }),
      by: sayAuthor(by),
      reason,
    })),
  }
}

const limitedKinds = ['train', 'pull', 'sweep', 'scan'] as const

function queued(row: PullRow, landings: readonly Intent[]): QueuedPull {
  const { pull, title, author, baseRef, draft, since, openedAt, lookedAt, reasons, verdict } = row
  const isMerging = landings.some((landing) => landing.pull === pull)
  const before = landings.find((landing) => landing.baseRef === baseRef && landing.pull !== pull)
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

function shownStop({ branch, kind, since, by, reason, pull, tryAgainAt }: LandingStop): ShownStop {
  return {
    ...(branch !== undefined && { branch }),
    kind,
    since,
    by: sayAuthor(by),
    reason,
    ...(pull !== undefined && { pull }),
    ...(tryAgainAt !== undefined && { tryAgainAt }),
    command: `/thaw${branch === undefined ? ' all' : ''}${kind === 'audit' ? ' audit' : ''}`,
  }
}

/** `before`: the merge below which the page begins. */
export async function readMerged(
  store: PageRecords,
  listed: readonly ListedRepository[],
  repository: RepositoryName | undefined,
  before: number | undefined,
): Promise<MergedModel> {
  const pulls = await store.mergedPulls(
    listed.map((one) => one.repository),
    mergedOnPage + 1,
    before,
  )
  const shown = pulls.slice(0, mergedOnPage)
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
    ...(pulls.length > mergedOnPage && last !== undefined && { before: last.id }),
  }
}

export async function readBadge(store: QueueRecords, { repository }: ListedRepository): Promise<BadgeModel> {
  const [counts, stops] = await Promise.all([store.countOpenPulls(), store.landingStops(repository)])
  const open = counts
    .filter((one) => one.repository === repositoryKey(repository))
    .reduce((sum, { pulls }) => sum + pulls, 0)
  return { open, stops: stops.length }
}
