// Builds the model and page for a request, from the store alone. The caller has checked access.
import { allRules } from '../../checks/all-rules.ts'
import type { ListedRepository } from '../../ports/page-records.ts'
import type { Store } from '../../ports/store.ts'
import type { PageRequest, PageFormat } from '../../report/page-urls.ts'
import { renderBadge } from '../pages/badge.ts'
import { renderCatalogPage, renderCatalogsPage, renderPackagePage } from '../pages/catalog-pages.ts'
import { renderStatusPage, type PageContext, type StatusPage } from '../pages/status-page.ts'
import { renderHomePage } from '../pages/home-page.ts'
import { renderMergedFeed, renderMergedPage, type MergedModel } from '../pages/merged-page.ts'
import { renderOverviewPage, renderRepositoryOverviewPage } from '../pages/overview-page.ts'
import { renderPullPage } from '../pages/pull-page.ts'
import { renderQueuePage } from '../pages/queue-page.ts'
import { renderRulePage, renderRulesPage } from '../pages/rule-pages.ts'
import type { PageResponse } from './page-response.ts'
import {
  readCatalogModel,
  readOverviewModel,
  readPackageModel,
  readRepositoryOverviewModel,
} from './read-catalogs.ts'
import { readPullModel } from './read-pull.ts'
import { readBadgeModel, readHomeModel, readMergedPullsModel, readQueueModel } from './read-queue.ts'

export interface PageDataSources {
  readonly store: Store
  readonly webUrl: string
  /** Configured by the administrator, because the Host header is untrusted. */
  readonly publicUrl: string | undefined
  readonly ruleText: (id: string) => string | undefined
}

export interface RenderPageOptions {
  readonly asked: PageRequest
  readonly form: PageFormat
  readonly query: URLSearchParams
  readonly setting: PageContext
  /** The requested repository, or all visible ones. */
  readonly repositories: readonly ListedRepository[]
  /** The session's form token. */
  readonly formToken?: string | undefined
}

/** Undefined if it does not exist. */
export async function renderRequestedPage(
  order: RenderPageOptions,
  { store, webUrl, publicUrl, ruleText }: PageDataSources,
): Promise<PageResponse | undefined> {
  const { asked, form, query, setting, repositories, formToken } = order
  const renderModel = <Model>(
    model: Model | undefined,
    renderPage: (model: Model, setting: PageContext) => StatusPage,
  ): PageResponse | undefined => {
    if (model === undefined) return undefined
    if (form === 'json') return { status: 200, form, body: `${JSON.stringify(model)}\n` }
    return { status: 200, form: 'html', body: renderStatusPage(renderPage(model, setting), setting) }
  }
  const [one] = repositories
  switch (asked.page) {
    case 'home':
      return renderModel(await readHomeModel(store, repositories), renderHomePage)
    case 'overview':
      return renderModel(await readOverviewModel(store, repositories), renderOverviewPage)
    case 'rules':
      return renderModel(
        { rules: allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(toRuleRow) },
        renderRulesPage,
      )
    case 'rule': {
      const rule = allRules.find(({ id }) => id === asked.id)
      const text = ruleText(asked.id)
      return renderModel(
        rule && { ...toRuleRow(rule), since: rule.since, ...(text !== undefined && { page: text }) },
        renderRulePage,
      )
    }
    case 'merged':
    case 'repository-merged': {
      const of = asked.page === 'merged' ? undefined : one?.repository
      const model = await readMergedPullsModel(store, repositories, of, parseBeforeParameter(query))
      return form === 'atom' ? renderFeed(model) : renderModel(model, renderMergedPage)
    }
    case 'repository':
      return (
        one &&
        renderModel(await readQueueModel(store, one, webUrl), (model, its) =>
          renderQueuePage(model, its, formToken),
        )
      )
    case 'pull':
      return (
        one && renderModel(await readPullModel(store, one.repository, asked.pull, webUrl), renderPullPage)
      )
    case 'repository-overview':
      return (
        one &&
        renderModel(
          await readRepositoryOverviewModel(store, one.repository, setting.now),
          renderRepositoryOverviewPage,
        )
      )
    case 'catalogs':
      return (
        one &&
        renderModel(
          { repository: one.repository, catalogs: await store.listCatalogTotals(one.repository) },
          renderCatalogsPage,
        )
      )
    case 'catalog':
      return (
        one && renderModel(await readCatalogModel(store, one.repository, asked.catalog), renderCatalogPage)
      )
    case 'package':
      return (
        one &&
        renderModel(
          await readPackageModel(store, one.repository, asked.catalog, asked.package),
          renderPackagePage,
        )
      )
    case 'badge':
      return one && { status: 200, form: 'svg', body: renderBadge(await readBadgeModel(store, one)) }
    // These do not read the store.
    case 'resume':
    case 'sign-in':
    case 'sign-out':
    case 'signed-in':
    case 'style':
      return undefined
  }

  function renderFeed(model: MergedModel): PageResponse {
    return { status: 200, form: 'atom', body: renderMergedFeed(model, { publicUrl, webUrl }, setting.now) }
  }
}

const toRuleRow = ({ id, check, severity, title }: (typeof allRules)[number]) => ({
  id,
  check,
  severity,
  title,
})

function parseBeforeParameter(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
