// Reads the data about the state of a repository for its operations page.
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { readScanState } from '../../image-scan/scan-state.ts'
import { readRateLimitedJobs } from '../../jobs/rate-limit-waits.ts'
import { findActiveFreezes, formatFreeze } from '../../policy/merge-freeze.ts'
import type { Cache } from '../../ports/cache.ts'
import type { MergeFreezeStore } from '../../ports/merge-records.ts'
import type { RecordedRepository, StatusPageStore } from '../../ports/status-page-store.ts'
import type { StateStore } from '../../ports/state.ts'
import {
  parsePublicationId,
  publicationStateNamespace,
  reportedPublicationsStateNamespace,
  type PublicationState,
} from '../../publish/publication-state.ts'
import { toRepositoryKey, type RepositoryName } from '../../pull-request/snapshot.ts'
import { formatOverviewPageUrl, formatPullPageUrl, formatRepositoryPageUrl } from '../../report/urls.ts'
import {
  publishedImageFields,
  type OperationsFailure,
  type OperationsPageModel,
  type PublishedImageView,
  type RequestQuota,
} from '../pages/operations-page.ts'
import { pickFields } from './read-queue.ts'

type OperationsPageStore = StatusPageStore & MergeFreezeStore & StateStore & Cache

/** Requests that GitHub allows an installation, as GitHub last reported them to this process. */
export type RequestQuotaReader = (installation: number) => Promise<readonly RequestQuota[]>

const chartDays = 28
const imagesPerPage = 10
const maxEarlierImages = 5
const maxChangeLines = 5
const maxLinkedPulls = 5
const msPerDay = 24 * 3600_000

export async function readOperationsPageModel(
  store: OperationsPageStore,
  { repository, installation }: RecordedRepository,
  { now, page }: { readonly now: number; readonly page: number },
  readRequestQuota: RequestQuotaReader = () => Promise.resolve([]),
): Promise<OperationsPageModel> {
  const today = Math.floor(now / msPerDay)
  const firstDay = today - chartDays + 1
  const [reported, times, requests, failures] = await Promise.all([
    store.readState(reportedPublicationsStateNamespace, repository, 'all'),
    store.dailyPullTimes(repository, firstDay),
    readRequestQuota(installation),
    readGeneralFailures(store, repository, now),
  ])
  const ids = Object.keys(reported?.deployments ?? {}).sort()
  const publications = await Promise.all(
    ids.map(async (id) => ({
      ...parsePublicationId(id),
      state: await store.readState(publicationStateNamespace, repository, id),
    })),
  )
  const images = publications.map(toPublishedImageView)
  const problems = Object.entries(reported?.problems ?? {})
  return {
    repository,
    failures: [
      ...publications.flatMap(({ image, state }) =>
        state === undefined ? [] : listImageFailures(image, state),
      ),
      ...problems.map(([text, since]) => ({
        title: 'The publishing configuration has a problem',
        text: `For ${text}`,
        since,
      })),
      ...failures,
    ],
    days: Array.from({ length: chartDays }, (_, at) => ({
      merges: 0,
      verdicts: 0,
      ...times.find(({ day }) => day === firstDay + at),
      day: formatIsoTime((firstDay + at) * msPerDay).slice(0, 10),
    })),
    requests,
    images: images.slice((page - 1) * imagesPerPage, page * imagesPerPage),
    page,
    pages: Math.ceil(images.length / imagesPerPage),
  }
}

function listImageFailures(
  image: string,
  { failure, strayed }: PublicationState,
): readonly OperationsFailure[] {
  const failures: OperationsFailure[] = []
  if (failure !== undefined) {
    const { wish: rollback, why: text, since, isRefused, again: retryAt } = failure
    const title = `${image} ${rollback === undefined ? 'is not published' : 'was not rolled back'}`
    failures.push({ title, text, since, ...(!isRefused && { retryAt }) })
  }
  if (strayed !== undefined) {
    const text = `The tag ${strayed.tag} ${strayed.to === null ? 'was removed' : `now points to ${strayed.to}`}`
    failures.push({ title: `${image} was changed outside catalog-bot`, text, since: strayed.since })
  }
  return failures
}

/** Everything that needs attention, except for publishing. */
async function readGeneralFailures(
  store: OperationsPageStore,
  repository: RepositoryName,
  now: number,
): Promise<readonly OperationsFailure[]> {
  const [freezes, rejected, scan, counts, limited] = await Promise.all([
    store.listFreezes(repository),
    store.parkedPulls(repository),
    readScanState(store, repository),
    store.countOpenPulls(),
    readRateLimitedJobs(repository, [], store),
  ])
  const queue = formatRepositoryPageUrl(repository)
  const failures: OperationsFailure[] = freezes
    .filter((freeze) => findActiveFreezes([freeze], freeze.branch ?? '', now).length > 0)
    .map((freeze) => ({ title: 'Merging is frozen', text: formatFreeze(freeze), to: queue }))
  for (const pull of rejected.slice(0, maxLinkedPulls))
    failures.push({
      title: `GitHub rejected the merge of #${pull}`,
      text: 'catalog-bot tries again when the pull request or the branch settings change',
      to: formatPullPageUrl(repository, pull),
    })
  const missing = Object.values(scan.missingImages).filter(({ confirmed }) => confirmed)
  if (missing.length > 0)
    failures.push({
      title: 'Images are missing',
      text: `${missing.length} of the images in the catalogs cannot be pulled`,
      since: Math.min(...missing.map(({ since }) => since)),
      to: formatOverviewPageUrl(repository),
    })
  const key = toRepositoryKey(repository)
  const inconclusive = counts.find((row) => row.repository === key && row.verdict === 'unknown')
  if (inconclusive !== undefined)
    failures.push({
      title: 'Checks are inconclusive',
      text: `The result is unknown for ${inconclusive.pulls} of the open pull requests. catalog-bot retries automatically`,
      to: `${queue}?state=unknown`,
    })
  if (limited.length > 0)
    failures.push({
      title: "GitHub's rate limit is reached",
      text: 'Some jobs are waiting until GitHub allows more requests',
      retryAt: Math.max(...limited.map(({ until }) => until)),
    })
  return failures
}

function toPublishedImageView({
  image,
  branch,
  root,
  state,
}: ReturnType<typeof parsePublicationId> & {
  readonly state: PublicationState | undefined
}): PublishedImageView {
  const { current, history = [], pinned } = state ?? {}
  // After a rollback, the image that it replaced is the newest one.
  const active = pinned?.digest ?? current?.digest
  const known = [...(current === undefined ? [] : [current]), ...history]
  const shown = known.find(({ digest }) => digest === active)
  return {
    image,
    branch,
    root,
    ...(shown && { current: pickFields(shown, publishedImageFields) }),
    ...(pinned !== undefined && { rolledBackBy: pinned.login }),
    others: known
      .filter((one) => one.digest !== active)
      .slice(0, maxEarlierImages)
      .map((one) => ({
        digest: one.digest,
        at: one.at,
        command: `/rollback ${image} ${one.digest}`,
        changeLines: one.changeLines.slice(0, maxChangeLines),
      })),
  }
}
