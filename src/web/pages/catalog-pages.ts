// `/r/O/R/catalog[/C]`: catalogs, their packages, and a search. `/r/O/R/compare`: two catalogs' differences.
import { formatTruncatedNames } from '../../checks/validation/names.ts'
import type { PackageSummary, RecordedCatalog } from '../../pull-request/recorded-package.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { CatalogTotals } from '../../ports/status-page-store.ts'
import { emptyHtml, htmlTemplate, type Html } from '../html.ts'
import { formatCatalogPageUrl, formatCatalogsPageUrl, formatComparePageUrl } from '../../report/urls.ts'
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
  type PageTone,
} from './page-elements.ts'
import type { Breadcrumb, PageRequestContext, StatusPage } from './status-page.ts'
import type {
  RecordedPackageChange,
  RecordedPackageDifference,
} from '../../pull-request/compare-recorded-packages.ts'

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

export const renderFaint = (text: string): Html => htmlTemplate`<span class="faint">${text}</span>`

export function renderCatalogCommitInfo(
  { commit, branch, root, recordedAt }: RecordedCatalog,
  now: number,
): Html {
  return htmlTemplate`<p class="faint"><code>${root === '' ? '/' : root}</code> on <code>${branch}</code> at <code>${shortenSha(commit)}</code>, recorded ${renderTime(recordedAt, now)}</p>`
}

export interface ComparePageModel {
  readonly repository: RepositoryName
  /** Keys of the catalogs that can be compared. */
  readonly keys: readonly string[]
  readonly before?: RecordedCatalog
  readonly after?: RecordedCatalog
  readonly page: number
  readonly pages: number
  readonly total: Readonly<Record<RecordedPackageDifference['kind'], number>>
  readonly packages: readonly RecordedPackageDifference[]
}

const toneByDifferenceKind: Readonly<Record<RecordedPackageDifference['kind'], PageTone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'calm',
}
const maxNamesPerChange = 8
const maxChangesPerPackage = 30

export function renderComparePage(model: ComparePageModel, { now }: PageRequestContext): StatusPage {
  const { repository, keys, before, after, total, page, pages } = model
  const url = formatComparePageUrl(repository)
  return {
    title: before && after ? `From ${before.key} to ${after.key}` : 'Compare catalogs',
    tabs: { repository, current: 'catalogs' },
    crumbs: [
      { label: 'catalogs', to: formatCatalogsPageUrl(repository) },
      { label: 'compare', to: url },
    ],
    hasJson: true,
    body: htmlTemplate`${renderCompareForm(repository, keys, before?.key, after?.key)}${
      before && after
        ? htmlTemplate`<p class="faint">${[before, after].map(
            (catalog) =>
              htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog.key)}">${catalog.key}</a> on <code>${catalog.branch}</code> at <code>${shortenSha(catalog.commit)}</code>, recorded ${renderTime(catalog.recordedAt, now)}. `,
          )}</p><h2>${formatCountWithNoun(total.added, 'package')} added, ${total.removed} removed, ${total.changed} changed</h2>${
            model.packages.length === 0
              ? renderEmptyState('No package differs between these catalogs.')
              : model.packages.map((one) => renderDifference(one, model))
          }${renderPagination(url, { from: before.key, to: after.key }, page, pages)}`
        : renderEmptyState('A comparison requires at least two recorded catalogs.')
    }`,
  }
}

/** A form that opens the comparison of two catalogs. */
function renderCompareForm(
  repository: RepositoryName,
  keys: readonly string[],
  from = keys.at(-2) ?? '',
  to = keys.at(-1) ?? '',
): Html {
  const options = keys.map((key) => [key, key] as const)
  return renderFilterForm(
    formatComparePageUrl(repository),
    [
      { name: 'from', label: 'From', value: from, options },
      { name: 'to', label: 'To', value: to, options },
    ],
    {},
    'Compare',
  )
}

function renderDifference(
  { name, kind, bundles, changes }: RecordedPackageDifference,
  { repository, before, after }: ComparePageModel,
): Html {
  const catalog = kind === 'removed' ? before : after
  return renderCard({
    tone: toneByDifferenceKind[kind],
    heading: htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog?.key ?? '', name)}">${name}</a> ${renderLabel(toneByDifferenceKind[kind], kind)}${kind !== 'changed' && htmlTemplate` <span class="faint">${formatCountWithNoun(bundles, 'version')}</span>`}`,
    body: htmlTemplate`<ul class="facts">${changes.length === 0 && htmlTemplate`<li>Details that these pages do not compare</li>`}${changes.slice(0, maxChangesPerPackage).map(renderChange)}${
      changes.length > maxChangesPerPackage &&
      htmlTemplate`<li>${formatCountWithNoun(changes.length - maxChangesPerPackage, 'more change')}</li>`
    }</ul>`,
  })
}

function renderChange({ what, channel, names }: RecordedPackageChange): Html {
  const more = names.length - maxNamesPerChange
  return htmlTemplate`<li>${channel !== undefined && htmlTemplate`Channel <code>${channel}</code>: `}${what}${names.length > 0 && ': '}${names
    .slice(0, maxNamesPerChange)
    .map(
      (name, at) => htmlTemplate`${at > 0 && ', '}<code>${name}</code>`,
    )}${more > 0 && htmlTemplate` and ${formatCountWithNoun(more, 'other')}`}</li>`
}
