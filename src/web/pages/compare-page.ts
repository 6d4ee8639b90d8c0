// `/r/O/R/compare`: a description of the differences between two catalogs.
import type {
  RecordedPackageChange,
  RecordedPackageDifference,
} from '../../pull-request/compare-recorded-packages.ts'
import type { RecordedCatalog } from '../../pull-request/recorded-package.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { formatCatalogPageUrl, formatCatalogsPageUrl, formatComparePageUrl } from '../../report/urls.ts'
import { htmlTemplate, type Html } from '../html.ts'
import {
  formatCountWithNoun,
  renderCard,
  renderEmptyState,
  renderFilterForm,
  renderLabel,
  renderPagination,
  renderTime,
  shortenSha,
  type PageTone,
} from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'

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
export function renderCompareForm(
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
