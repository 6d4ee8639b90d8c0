// Builds the model and page for a request, from the store alone, and sends the response. The caller has checked access.
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { allRules } from '../../checks/all-rules.ts'
import type {
  RecordedRepository,
  StatusPageStore,
  DailyPullCountByRule,
} from '../../ports/status-page-store.ts'
import type { Store } from '../../ports/store.ts'
import type { StatusPageRequest, StatusPageFormat } from '../../report/urls.ts'
import { renderCatalogPage, renderCatalogsPage, renderComparePage } from '../pages/catalog-pages.ts'
import { renderPackagePage } from '../pages/package-page.ts'
import {
  parseCatalogListView,
  readCatalogPageModel,
  readCatalogsPageModel,
  readComparePageModel,
  readPackagePageModel,
} from './read-catalogs.ts'
import { renderOperationsPage } from '../pages/operations-page.ts'
import { readOperationsPageModel, type RequestQuotaReader } from './read-operations.ts'
import { renderStatusPage, type PageRequestContext, type StatusPage } from '../pages/status-page.ts'
import {
  renderOverviewPage,
  renderRepositoryOverviewPage,
  type OverviewPageModel,
  type RepositoryOverviewPageModel,
  renderHomePage,
  renderBadge,
} from '../pages/overview-page.ts'
import { renderPullPage } from '../pages/pull-page.ts'
import { renderQueuePage, renderMergedPullsFeed, renderMergedPullsPage } from '../pages/queue-page.ts'
import { renderRulePage, renderRulesPage } from '../pages/markdown.ts'
import { readPullPageModel } from './read-pull.ts'
import {
  readBadgeModel,
  readHomePageModel,
  readMergedPullsPageModel,
  parseQueueFilter,
  readQueuePageModel,
} from './read-queue.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { StateStore } from '../../ports/state.ts'
import { readScanState } from '../../image-scan/scan-state.ts'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Sends pages with a strict content policy and ETags. */
export interface PageResponse {
  readonly status: number
  readonly body: string
  readonly form: StatusPageFormat
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

const contentTypeByPageFormat: Readonly<Record<StatusPageFormat, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** Allows only catalog-bot's own script, no frames or external resources, and forms that post only to this server. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export const pageSecurityHeaders = {
  vary: 'Accept, Cookie',
  'content-security-policy': contentSecurityPolicy,
  // With `no-referrer`, browsers omit the origin of catalog-bot's own forms.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const

type CatalogPageStore = StatusPageStore & StateStore

const overviewHistoryWeeks = 8
const maxOverviewTableRows = 200
const millisecondsPerDay = 24 * 3600_000

export interface PageDataSources {
  readonly store: Store
  readonly webUrl: string
  /** Configured by the administrator, because the Host header is untrusted. */
  readonly publicUrl: string | undefined
  readonly ruleText: (id: string) => string | undefined
  readonly requestQuota?: RequestQuotaReader | undefined
}

interface RenderPageOptions {
  readonly request: StatusPageRequest
  readonly form: StatusPageFormat
  readonly query: URLSearchParams
  readonly setting: PageRequestContext
  /** The requested repository, or all visible ones. */
  readonly repositories: readonly RecordedRepository[]
  readonly formToken?: string | undefined
}

/** Undefined if it does not exist. */
export async function renderRequestedPage(
  order: RenderPageOptions,
  sources: PageDataSources,
): Promise<PageResponse | undefined> {
  const { store, ruleText } = sources
  const { request, repositories } = order
  if ('repository' in request) {
    const [one] = repositories
    return one && renderRepositoryPage(request, one, order, sources)
  }
  switch (request.page) {
    case 'home':
      return renderPageModel(order, await readHomePageModel(store, repositories), renderHomePage)
    case 'overview':
      return renderPageModel(order, await readOverviewPageModel(store, repositories), renderOverviewPage)
    case 'rules': {
      const rules = allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(toRuleTableRow)
      return renderPageModel(order, { rules }, renderRulesPage)
    }
    case 'rule': {
      const rule = allRules.find(({ id }) => id === request.id)
      const text = ruleText(request.id)
      return renderPageModel(
        order,
        rule && { ...toRuleTableRow(rule), since: rule.since, ...(text !== undefined && { page: text }) },
        renderRulePage,
      )
    }
    case 'merged':
      return renderMergedPullsResponse(undefined, order, sources)
    // These do not read the store.
    case 'sign-in':
    case 'sign-out':
    case 'signed-in':
    case 'style':
    case 'script':
      return undefined
  }
}

type PageRenderer<Model> = (model: Model, setting: PageRequestContext) => StatusPage
type RepositoryPageRequest = Extract<StatusPageRequest, { readonly repository: RepositoryName }>

async function renderRepositoryPage(
  request: RepositoryPageRequest,
  one: RecordedRepository,
  order: RenderPageOptions,
  sources: PageDataSources,
): Promise<PageResponse | undefined> {
  const { store, webUrl } = sources
  const { repository } = one
  const { form, query, setting, formToken } = order
  const view = parseCatalogListView(query)
  const render = <Model>(model: Model | undefined, renderPage: PageRenderer<Model>) =>
    renderPageModel(order, model, renderPage)
  switch (request.page) {
    case 'repository': {
      const queueView = { filter: parseQueueFilter(query), isPaged: form !== 'json' }
      return render(await readQueuePageModel(store, one, webUrl, queueView), (model, its) =>
        renderQueuePage(model, its, formToken),
      )
    }
    case 'pull':
      return render(await readPullPageModel(store, repository, request.pull, webUrl), renderPullPage)
    case 'repository-overview':
      return render(
        await readRepositoryOverviewPageModel(store, repository, setting.now),
        renderRepositoryOverviewPage,
      )
    case 'catalogs':
      return render(await readCatalogsPageModel(store, repository, view), renderCatalogsPage)
    case 'catalog':
      return render(await readCatalogPageModel(store, repository, request.catalog, view), (model, its) =>
        renderCatalogPage(model, its, view),
      )
    case 'package':
      return render(
        await readPackagePageModel(store, repository, request.catalog, request.package),
        (model, its) => renderPackagePage(model, its, view),
      )
    case 'compare':
      return render(await readComparePageModel(store, repository, query), renderComparePage)
    case 'operations': {
      const operationsView = { now: setting.now, page: view.page }
      return render(
        await readOperationsPageModel(store, one, operationsView, sources.requestQuota),
        renderOperationsPage,
      )
    }
    case 'repository-merged':
      return renderMergedPullsResponse(repository, order, sources)
    // These have no body.
    case 'resume':
    case 'events':
      return undefined
    case 'badge':
      return { status: 200, form: 'svg', body: renderBadge(await readBadgeModel(store, one)) }
  }
}

/** `of`: the repository, or undefined for all of them. */
async function renderMergedPullsResponse(
  of: RepositoryName | undefined,
  order: RenderPageOptions,
  { store, publicUrl, webUrl }: PageDataSources,
): Promise<PageResponse | undefined> {
  const { form, query, setting, repositories } = order
  const model = await readMergedPullsPageModel(store, repositories, of, parseBeforeQueryParameter(query))
  if (form !== 'atom') return renderPageModel(order, model, renderMergedPullsPage)
  return { status: 200, form, body: renderMergedPullsFeed(model, { publicUrl, webUrl }, setting.now) }
}

function renderPageModel<Model>(
  { form, setting }: RenderPageOptions,
  model: Model | undefined,
  renderPage: PageRenderer<Model>,
): PageResponse | undefined {
  if (model === undefined) return undefined
  if (form === 'json') return { status: 200, form, body: `${JSON.stringify(model)}\n` }
  return { status: 200, form: 'html', body: renderStatusPage(renderPage(model, setting), setting) }
}

const toRuleTableRow = ({ id, check, severity, title }: (typeof allRules)[number]) => ({
  id,
  check,
  severity,
  title,
})

/** The query parameters that pages read. Pages are cached only without them, so that their number is bounded. */
const pageParameterNames = [
  ...['before', 'after', 'state', 'author', 'package'],
  ...['q', 'page', 'list', 'channel', 'from', 'to'],
]

export function hasPageParameters(query: URLSearchParams): boolean {
  return pageParameterNames.some((name) => query.has(name))
}

function parseBeforeQueryParameter(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

async function readOverviewPageModel(
  store: CatalogPageStore,
  listed: readonly RecordedRepository[],
): Promise<OverviewPageModel> {
  const repositories: OverviewPageModel['repositories'][number][] = []
  for (const { repository } of listed) {
    const [scan, catalogs] = await Promise.all([
      readScanState(store, repository),
      store.listCatalogTotals(repository),
    ])
    repositories.push({
      repository,
      missing: Object.values(scan.missingImages).filter(({ confirmed }) => confirmed).length,
      stranded: catalogs.reduce((sum, { stranded }) => sum + stranded, 0),
      ...(scan.finished && { scannedAt: scan.finished.at }),
    })
  }
  return { repositories }
}

async function readRepositoryOverviewPageModel(
  store: CatalogPageStore,
  repository: RepositoryName,
  now: number,
): Promise<RepositoryOverviewPageModel> {
  const today = Math.floor(now / millisecondsPerDay)
  const [scan, stranded, days] = await Promise.all([
    readScanState(store, repository),
    store.strandedPackages(repository),
    store.ruleDays(repository, today - overviewHistoryWeeks * 7 + 1),
  ])
  const { finished } = scan
  return {
    repository,
    scan: finished === undefined ? {} : { at: finished.at, unknown: finished.unknown },
    missing: Object.entries(scan.missingImages)
      .filter(([, { confirmed }]) => confirmed)
      .slice(0, maxOverviewTableRows)
      .map(([reference, { kind, reason, since }]) => ({ reference, kind, reason, since })),
    stranded: stranded.map(({ catalog, package: its }) => ({
      catalog,
      package: its.name,
      bundles: its.stranded,
    })),
    weeks: Array.from({ length: overviewHistoryWeeks }, (_, week) => ({
      from: formatIsoTime((today - week * 7 - 6) * millisecondsPerDay).slice(0, 10),
    })),
    ...sumWeeklyPullCounts(days, today),
  }
}

/** Sums over the last weeks. */
function sumWeeklyPullCounts(
  days: readonly DailyPullCountByRule[],
  today: number,
): Pick<RepositoryOverviewPageModel, 'rules' | 'owners'> {
  const weeksAgo = (at: number) => Math.floor((today - at) / 7)
  const sumByWeek = (its: readonly DailyPullCountByRule[]) => {
    const weeks = Array.from({ length: overviewHistoryWeeks }, () => 0)
    for (const one of its) {
      const week = weeksAgo(one.day)
      if (week >= 0 && week < overviewHistoryWeeks) weeks[week] = (weeks[week] ?? 0) + one.pulls
    }
    return weeks
  }
  const total = (weeks: readonly number[]) => weeks.reduce((sum, number) => sum + number, 0)
  const rules = [...Map.groupBy(days, ({ rule }) => rule)].map(([rule, its]) => ({
    rule,
    severity: its[0]?.severity ?? 'warning',
    pulls: sumByWeek(its),
  }))
  const owners = [...Map.groupBy(days, ({ owner }) => owner)].map(([owner, its]) => ({
    owner,
    pulls: sumByWeek(its),
    rules: [...new Set(its.map(({ rule }) => rule))].sort().slice(0, 10),
  }))
  const byTotalDescending = (a: { pulls: readonly number[] }, b: { pulls: readonly number[] }) =>
    total(b.pulls) - total(a.pulls)
  return {
    rules: rules.sort(byTotalDescending).slice(0, maxOverviewTableRows),
    owners: owners.sort(byTotalDescending).slice(0, maxOverviewTableRows),
  }
}

/** `cache`: the Cache-Control value. */
export function sendPageResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, form, headers = {} }: PageResponse,
  cache: string,
): void {
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  const all = {
    ...pageSecurityHeaders,
    'content-type': contentTypeByPageFormat[form],
    'cache-control': cache,
    ...(form === 'svg' && { 'cross-origin-resource-policy': 'cross-origin' }),
    ...(status === 200 && cache !== 'no-store' && { etag: tag }),
    ...(headers as Record<string, string | string[]>),
  }
  const isKnown = status === 200 && cache !== 'no-store' && matchesEtag(request.headers['if-none-match'], tag)
  if (isKnown) return void response.writeHead(304, all).end()
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...all, 'content-length': bytes.length })
  if (request.method === 'HEAD') response.end()
  else response.end(bytes)
}

function matchesEtag(header: string | undefined, tag: string): boolean {
  return header?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true
}

/** JSON only if the client lists it before HTML. */
export function negotiatePageFormat(accept: string | undefined): 'html' | 'json' {
  for (const one of (accept ?? '').split(',')) {
    const type = one.split(';')[0]?.trim().toLowerCase()
    if (type === 'application/json') return 'json'
    if (type === 'text/html' || type === 'application/xhtml+xml' || type === '*/*') return 'html'
  }
  return 'html'
}
