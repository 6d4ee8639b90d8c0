// `/r/O/R/catalog` and `/r/O/R/catalog/C`: a repository's catalogs, their packages, and a search.
import { formatTruncatedNames } from '../../checks/validation/names.ts'
import type { PackageSummary, RecordedCatalog } from '../../pull-request/recorded-package.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { CatalogTotals } from '../../ports/status-page-store.ts'
import { emptyHtml, htmlTemplate, type Html } from '../html.ts'
import { formatCatalogPageUrl, formatCatalogsPageUrl } from '../../report/urls.ts'
import { renderCompareForm } from './compare-page.ts'
import {
  formatCountWithNoun,
  renderCard,
  renderEmptyState,
  renderFilterForm,
  renderLabel,
  renderPagination,
  renderPath,
  renderTable,
  renderTime,
  shortenSha,
} from './page-elements.ts'
import type { Breadcrumb, PageRequestContext, StatusPage } from './status-page.ts'

/** The part of a catalog that a visitor requested. */
export interface CatalogListView {
  /** Empty if the visitor does not search. */
  readonly search: string
  /** From 1. */
  readonly page: number
  /** A list of a package, shown in full. */
  readonly list?: 'channels' | 'versions' | 'images'
  /** The channel whose graph is shown. */
  readonly channel?: string
}

/** The first names of each kind that contain the text, and how many do. */
export interface PackageSearchResult {
  readonly catalog: string
  readonly name: string
  readonly displayName?: string
  readonly channels: SearchMatches
  readonly bundles: SearchMatches
  readonly images: SearchMatches
}

interface SearchMatches {
  readonly total: number
  readonly names: readonly string[]
}

export interface CatalogSearchModel {
  readonly text: string
  /** The number of packages. */
  readonly total: number
  readonly page: number
  readonly pages: number
  readonly found: readonly PackageSearchResult[]
}

export interface CatalogsPageModel {
  readonly repository: RepositoryName
  readonly catalogs: readonly CatalogTotals[]
  readonly search?: CatalogSearchModel
}

export interface CatalogPageModel {
  readonly repository: RepositoryName
  readonly catalog: RecordedCatalog
  /** Empty in a search. */
  readonly packages: readonly PackageSummary[]
  readonly search?: CatalogSearchModel
}

export function buildCatalogBreadcrumbs(
  repository: RepositoryName,
  catalog?: RecordedCatalog,
  packageName?: string,
): readonly Breadcrumb[] {
  return [
    { label: 'catalogs', to: formatCatalogsPageUrl(repository) },
    ...(catalog === undefined
      ? []
      : [{ label: catalog.key, to: formatCatalogPageUrl(repository, catalog.key) }]),
    ...(catalog === undefined || packageName === undefined
      ? []
      : [{ label: packageName, to: formatCatalogPageUrl(repository, catalog.key, packageName) }]),
  ]
}

/** Rows of a list that fills a page. */
export const rowsPerPage = 100
/** Names in a cell of a table. */
export const maxShownNames = 6

export function renderCatalogsPage(
  { repository, catalogs, search }: CatalogsPageModel,
  { path, now }: PageRequestContext,
): StatusPage {
  const keys = catalogs.map(({ key }) => key)
  const table = renderTable(
    {
      label: 'Catalogs',
      columns: ['Catalog', 'Folder', 'Branch', '#Packages', '#Versions', '#Stranded', 'As of'],
      empty:
        'No catalogs are recorded yet. catalog-bot records catalogs when it first reads the branch and after every push.',
    },
    catalogs.map(({ key, root, branch, packages, bundles, stranded, commit, recordedAt }) => [
      htmlTemplate`<a href="${formatCatalogPageUrl(repository, key)}">${key}</a>`,
      htmlTemplate`<code>${root === '' ? '/' : root}</code>`,
      htmlTemplate`<code>${branch}</code>`,
      packages,
      bundles,
      stranded,
      htmlTemplate`<code>${shortenSha(commit)}</code> ${renderTime(recordedAt, now)}`,
    ]),
  )
  return {
    title: `Catalogs of ${repository.owner}/${repository.name}`,
    tabs: { repository, current: 'catalogs' },
    crumbs: buildCatalogBreadcrumbs(repository),
    hasJson: true,
    body: htmlTemplate`${catalogs.length > 0 && renderSearchForm(path, search)}${
      search === undefined
        ? htmlTemplate`${table}${catalogs.length > 1 && htmlTemplate`<h2>Compare catalogs</h2>${renderCompareForm(repository, keys)}`}`
        : renderSearchResults(search, repository, path)
    }`,
  }
}

function renderSearchForm(path: string, search: CatalogSearchModel | undefined): Html {
  const label = 'Packages, channels, bundles, images'
  return renderFilterForm(path, [{ name: 'q', label, value: search?.text ?? '' }], {}, 'Search')
}

function renderSearchResults(
  { text, total, page, pages, found }: CatalogSearchModel,
  repository: RepositoryName,
  path: string,
): Html {
  if (found.length === 0) return renderEmptyState(htmlTemplate`Nothing contains <code>${text}</code>.`)
  return htmlTemplate`<h2>${formatCountWithNoun(total, 'package contains', 'packages contain')} <code>${text}</code></h2>${found.map(
    (one) =>
      renderCard({
        heading: htmlTemplate`<a href="${formatCatalogPageUrl(repository, one.catalog, one.name)}">${one.name}</a>${one.displayName !== undefined && ` ${one.displayName}`} <span class="faint">in ${one.catalog}</span>`,
        body: htmlTemplate`${[
          renderMatches('Channels', one.channels),
          renderMatches('Bundles', one.bundles),
          renderMatches('Images', one.images),
        ]}`,
      }),
  )}${renderPagination(path, { q: text }, page, pages)}`
}

function renderMatches(kind: string, { total, names }: SearchMatches): Html {
  if (names.length === 0) return emptyHtml
  const more = total - names.length
  return htmlTemplate`<p>${kind}: ${names.map((name, at) => htmlTemplate`${at > 0 && ', '}${renderPath(name)}`)}${more > 0 && ` and ${more} more`}</p>`
}

export function renderCatalogPage(
  { repository, catalog, packages, search }: CatalogPageModel,
  { path, now }: PageRequestContext,
  { page }: CatalogListView,
): StatusPage {
  return {
    title: `Catalog ${catalog.key}`,
    tabs: { repository, current: 'catalogs' },
    crumbs: buildCatalogBreadcrumbs(repository, catalog),
    hasJson: true,
    body: htmlTemplate`${renderCatalogCommitInfo(catalog, now)}${renderSearchForm(path, search)}${
      search === undefined
        ? htmlTemplate`${renderPackageTable(repository, catalog, sliceRows(packages, page))}${renderPagination(path, {}, page, Math.ceil(packages.length / rowsPerPage))}`
        : renderSearchResults(search, repository, path)
    }`,
  }
}

const sliceRows = <Row>(rows: readonly Row[], page: number): readonly Row[] =>
  rows.slice((page - 1) * rowsPerPage, page * rowsPerPage)

function renderPackageTable(
  repository: RepositoryName,
  catalog: RecordedCatalog,
  packages: readonly PackageSummary[],
): Html {
  return renderTable(
    {
      label: 'Packages',
      columns: ['Package', 'Default channel', 'Head', '#Versions', 'Newest', 'Owners', 'Notes'],
      empty: 'This catalog has no readable packages.',
    },
    packages.map((one) => [
      htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog.key, one.name)}">${one.name}</a>${one.displayName !== undefined && htmlTemplate`<br /><span class="faint">${one.displayName}</span>`}`,
      one.defaultChannel === '' ? renderFaint('none') : one.defaultChannel,
      one.heads.join(', '),
      one.versions,
      one.newest ?? renderFaint('none'),
      one.owners.length === 0 ? renderFaint('maintainers') : formatTruncatedNames(one.owners, maxShownNames),
      htmlTemplate`${one.deprecated !== undefined && htmlTemplate`${renderLabel('unsure', 'deprecated')} `}${one.stranded.length > 0 && renderLabel('bad', formatCountWithNoun(one.stranded.length, 'stranded version'))}`,
    ]),
  )
}

export const renderFaint = (words: string): Html => htmlTemplate`<span class="faint">${words}</span>`

export function renderCatalogCommitInfo(
  { commit, branch, root, recordedAt }: RecordedCatalog,
  now: number,
): Html {
  return htmlTemplate`<p class="faint"><code>${root === '' ? '/' : root}</code> on <code>${branch}</code> at <code>${shortenSha(commit)}</code>, recorded ${renderTime(recordedAt, now)}</p>`
}
