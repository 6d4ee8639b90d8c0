// `/`, `/overview`, `/r/O/R/overview`, and the badge: problems without a pull request, and weekly warnings.
import type { Severity } from '@catalog-bot/findings/finding'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { htmlTemplate, emptyHtml, convertHtmlToString, type Html } from '../html.ts'
import {
  formatCatalogPageUrl,
  formatOverviewPageUrl,
  formatRepositoryPageUrl,
  formatRulePageUrl,
  formatMergedPullsPageUrl,
  formatSignInUrl,
} from '../../report/urls.ts'
import { renderTable, formatCountWithNoun, renderTime, renderPullState } from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'
import type { VerdictKind } from '../../policy/verdict.ts'

export interface BadgeModel {
  readonly open: number
  readonly stops: number
}

const badgeLabel = 'catalog-bot'
const badgeCharWidthPixels = 6.6

export interface HomePageModel {
  readonly repositories: readonly {
    readonly repository: RepositoryName
    readonly isPublic: boolean
    readonly open: Readonly<Partial<Record<VerdictKind, number>>>
    readonly stops: number
    readonly lastMerge?: { readonly pull: number; readonly at: number }
  }[]
}

export interface OverviewPageModel {
  readonly repositories: readonly {
    readonly repository: RepositoryName
    readonly missing: number
    readonly stranded: number
    readonly scannedAt?: number
  }[]
}

export interface RepositoryOverviewPageModel {
  readonly repository: RepositoryName
  readonly scan: { readonly at?: number; readonly unknown?: number }
  readonly missing: readonly {
    readonly reference: string
    readonly kind: string
    readonly reason: string
    readonly since: number
  }[]
  readonly stranded: readonly {
    readonly catalog: string
    readonly package: string
    readonly bundles: readonly string[]
  }[]
  /** Newest first. */
  readonly weeks: readonly { readonly from: string }[]
  readonly rules: readonly {
    readonly rule: string
    readonly severity: Severity
    readonly pulls: readonly number[]
  }[]
  readonly owners: readonly {
    readonly owner: string
    readonly pulls: readonly number[]
    readonly rules: readonly string[]
  }[]
}

/** `/overview` and `/r/O/R/overview`: problems without an open pull request, and weekly rule warnings. */
export function renderOverviewPage(
  { repositories }: OverviewPageModel,
  { now }: PageRequestContext,
): StatusPage {
  return {
    title: 'Overview',
    crumbs: [{ label: 'overview', to: '/overview' }],
    hasJson: true,
    body: renderTable(
      {
        label: 'Repositories',
        columns: ['Repository', '#Missing images', '#Stranded versions', 'Last scan'],
        empty: 'No repositories to show.',
      },
      repositories.map(({ repository, missing, stranded, scannedAt }) => [
        htmlTemplate`<a href="${formatOverviewPageUrl(repository)}">${repository.owner}/${repository.name}</a>`,
        missing,
        stranded,
        scannedAt === undefined
          ? htmlTemplate`<span class="faint">none yet</span>`
          : renderTime(scannedAt, now),
      ]),
    ),
  }
}

export function renderRepositoryOverviewPage(
  model: RepositoryOverviewPageModel,
  { now }: PageRequestContext,
): StatusPage {
  const { repository, scan, missing, stranded } = model
  const named = `${repository.owner}/${repository.name}`
  return {
    title: `Overview of ${named}`,
    tabs: { repository, current: 'overview' },
    crumbs: [{ label: 'overview', to: formatOverviewPageUrl(repository) }],
    hasJson: true,
    body: htmlTemplate`
<h2>Missing images</h2><p class="faint">${
      scan.at === undefined
        ? 'No image scan has finished yet.'
        : htmlTemplate`The last image scan finished ${renderTime(scan.at, now)}. ${scan.unknown !== undefined && scan.unknown > 0 && `The scan was inconclusive for ${formatCountWithNoun(scan.unknown, 'image')}.`}`
    }</p>${renderTable(
      {
        label: 'Missing images',
        columns: ['Image', 'What', 'Why', 'Since'],
        empty: 'No images are missing.',
      },
      missing.map(({ reference, kind, reason, since }) => [
        htmlTemplate`<code>${reference}</code>`,
        kind,
        reason,
        renderTime(since, now),
      ]),
    )}
<h2>Stranded versions</h2><p class="faint">Users who have one of these versions installed no longer get updates, because no upgrade path leads to a channel head.</p>${renderTable(
      {
        label: 'Stranded versions',
        columns: ['Package', 'Catalog', 'Versions'],
        empty: 'No versions are stranded.',
      },
      stranded.map(({ catalog, package: name, bundles }) => [
        htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog, name)}">${name}</a>`,
        htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog)}">${catalog}</a>`,
        bundles.length > 10
          ? `${bundles.slice(0, 10).join(', ')} and ${bundles.length - 10} more`
          : bundles.join(', '),
      ]),
    )}${renderFindingStatistics(model)}`,
  }
}

function renderFindingStatistics({ weeks, rules, owners }: RepositoryOverviewPageModel): Html {
  const weekColumns = weeks.map(({ from }) => `#from ${from}`)
  return htmlTemplate`
<h2>Findings by rule</h2><p class="faint">Number of pull requests with findings for each rule, by week.</p>${renderTable(
    {
      label: 'Findings by rule',
      columns: ['Rule', 'Severity', ...weekColumns],
      empty: 'There are no findings.',
    },
    rules.map(({ rule, severity, pulls }) => [
      htmlTemplate`<a href="${formatRulePageUrl(rule)}">${rule}</a>`,
      htmlTemplate`<span class="${severity === 'error' ? 'bad' : 'unsure'}">${severity}</span>`,
      ...pulls,
    ]),
  )}
<h2>Findings by author</h2>${renderTable(
    {
      label: 'Findings by author',
      columns: ['Author', ...weekColumns, 'Rules'],
      empty: 'There are no findings.',
    },
    owners.map(({ owner, pulls, rules: met }) => [
      owner === '' ? 'deleted accounts' : owner,
      ...pulls,
      met.join(', '),
    ]),
  )}`
}

export function renderHomePage(
  { repositories }: HomePageModel,
  { now, login, canSignIn }: PageRequestContext,
): StatusPage {
  const countOpenPulls = (open: Readonly<Partial<Record<VerdictKind, number>>>) =>
    Object.values(open).reduce((sum, number) => sum + number, 0)
  const hidden =
    login === undefined && canSignIn
      ? htmlTemplate`<p class="faint">Private repositories are visible only to users who can read them on GitHub. <a href="${formatSignInUrl('/')}">Sign in</a> to see yours.</p>`
      : emptyHtml
  return {
    title: 'Catalog repositories',
    crumbs: [],
    hasJson: true,
    body: htmlTemplate`<ul class="links"><li><a href="${formatMergedPullsPageUrl()}">Merged pull requests</a></li><li><a href="/overview">Overview</a></li><li><a href="${formatRulePageUrl()}">Rules</a></li></ul>${renderTable(
      {
        label: 'Repositories',
        columns: [
          'Repository',
          'State',
          '#Open',
          '#Ready',
          '#Waiting for review',
          '#Blocked',
          '#Inconclusive',
          'Last merge',
        ],
        empty:
          'No repositories to show. A repository appears here a few minutes after the GitHub App is installed on it.',
      },
      repositories.map(({ repository, isPublic, open, stops, lastMerge }) => [
        htmlTemplate`<a href="${formatRepositoryPageUrl(repository)}">${repository.owner}/${repository.name}</a>${!isPublic && htmlTemplate` <span class="faint">private</span>`}`,
        stops > 0
          ? htmlTemplate`${renderPullState('stopped')} <span class="faint">${formatCountWithNoun(stops, 'freeze')}</span>`
          : htmlTemplate`merging`,
        countOpenPulls(open),
        open.merge ?? 0,
        open.wait ?? 0,
        open.blocked ?? 0,
        open.unknown ?? 0,
        lastMerge === undefined
          ? htmlTemplate`<span class="faint">none yet</span>`
          : htmlTemplate`<a href="${formatRepositoryPageUrl(repository)}/pull/${lastMerge.pull}">#${lastMerge.pull}</a> ${renderTime(lastMerge.at, now)}`,
      ]),
    )} ${hidden}`,
  }
}

/** `/badge/O/R.svg`: a status line for a repository's README. Contains no external text. */
export function renderBadge({ open, stops }: BadgeModel): string {
  const message = stops > 0 ? 'merging is frozen' : open === 0 ? 'no open pull requests' : `${open} open`
  const [left, right] = [badgeLabel, message].map(
    (text) => Math.round(text.length * badgeCharWidthPixels) + 12,
  ) as [number, number]
  const color = stops > 0 ? '#a40e26' : '#116329'
  return convertHtmlToString(
    htmlTemplate`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${badgeLabel}: ${message}"><title>${badgeLabel}: ${message}</title><rect width="${left}" height="20" rx="3" fill="#57606a" /> <rect x="${left}" width="${right}" height="20" rx="3" fill="${color}" /> <rect x="${left - 3}" width="6" height="20" fill="${color}" /> <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"> <text x="6" y="14">${badgeLabel}</text> <text x="${left + 6}" y="14">${message}</text> </g> </svg>`,
  )
}
