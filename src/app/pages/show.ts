// Builds the model and page for a request, from the store alone. The caller has checked access.
import { allRules } from '../../checks/all-rules.ts'
import type { ListedRepository } from '../../ports/page-records.ts'
import type { Store } from '../../ports/store.ts'
import type { Asked, Form } from '../../web/pages/addresses.ts'
import { badge } from '../../web/pages/badge.ts'
import { catalogPage, catalogsPage, packagePage } from '../../web/pages/catalog-pages.ts'
import { renderStatusPage, type Setting, type StatusPage } from '../../web/pages/frame.ts'
import { homePage } from '../../web/pages/home-page.ts'
import { mergedFeed, mergedPage, type MergedModel } from '../../web/pages/merged-page.ts'
import { overviewPage, repositoryOverviewPage } from '../../web/pages/overview-page.ts'
import { pullPage } from '../../web/pages/pull-page.ts'
import { queuePage } from '../../web/pages/queue-page.ts'
import { rulePage, rulesPage } from '../../web/pages/rule-pages.ts'
import type { Answer } from './answer.ts'
import { readCatalog, readOverview, readPackage, readRepositoryOverview } from './read-catalogs.ts'
import { readPull } from './read-pull.ts'
import { readBadge, readHome, readMerged, readQueue } from './read-queue.ts'

export interface Showing {
  readonly store: Store
  readonly webUrl: string
  /** Configured by the operator, because the Host header is untrusted. */
  readonly publicUrl: string | undefined
  readonly ruleText: (id: string) => string | undefined
}

export interface ShowOrder {
  readonly asked: Asked
  readonly form: Form
  readonly query: URLSearchParams
  readonly setting: Setting
  /** The requested repository, or all visible ones. */
  readonly repositories: readonly ListedRepository[]
  /** The session's form token. */
  readonly word?: string | undefined
}

/** Undefined if it does not exist. */
export async function show(
  order: ShowOrder,
  { store, webUrl, publicUrl, ruleText }: Showing,
): Promise<Answer | undefined> {
  const { asked, form, query, setting, repositories, word } = order
  const page = <Model>(
    model: Model | undefined,
    renderPage: (model: Model, setting: Setting) => StatusPage,
  ): Answer | undefined => {
    if (model === undefined) return undefined
    if (form === 'json') return { status: 200, form, body: `${JSON.stringify(model)}\n` }
    return { status: 200, form: 'html', body: renderStatusPage(renderPage(model, setting), setting) }
  }
  const [one] = repositories
  switch (asked.page) {
    case 'home':
      return page(await readHome(store, repositories), homePage)
    case 'overview':
      return page(await readOverview(store, repositories), overviewPage)
    case 'rules':
      return page({ rules: allRules.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(ruleLine) }, rulesPage)
    case 'rule': {
      const rule = allRules.find(({ id }) => id === asked.id)
      const text = ruleText(asked.id)
      return page(
        rule && { ...ruleLine(rule), since: rule.since, ...(text !== undefined && { page: text }) },
        rulePage,
      )
    }
    case 'merged':
    case 'repository-merged': {
      const of = asked.page === 'merged' ? undefined : one?.repository
      const model = await readMerged(store, repositories, of, beforeOf(query))
      return form === 'atom' ? feed(model) : page(model, mergedPage)
    }
    case 'repository':
      return one && page(await readQueue(store, one, webUrl), (model, its) => queuePage(model, its, word))
    case 'pull':
      return one && page(await readPull(store, one.repository, asked.pull, webUrl), pullPage)
    case 'repository-overview':
      return (
        one && page(await readRepositoryOverview(store, one.repository, setting.now), repositoryOverviewPage)
      )
    case 'catalogs':
      return (
        one &&
        page({ repository: one.repository, catalogs: await store.catalogRows(one.repository) }, catalogsPage)
      )
    case 'catalog':
      return one && page(await readCatalog(store, one.repository, asked.catalog), catalogPage)
    case 'package':
      return one && page(await readPackage(store, one.repository, asked.catalog, asked.package), packagePage)
    case 'badge':
      return one && { status: 200, form: 'svg', body: badge(await readBadge(store, one)) }
    // These do not read the store.
    case 'resume':
    case 'sign-in':
    case 'sign-out':
    case 'signed-in':
    case 'style':
      return undefined
  }

  function feed(model: MergedModel): Answer {
    return { status: 200, form: 'atom', body: mergedFeed(model, { publicUrl, webUrl }, setting.now) }
  }
}

const ruleLine = ({ id, check, severity, title }: (typeof allRules)[number]) => ({
  id,
  check,
  severity,
  title,
})

function beforeOf(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
