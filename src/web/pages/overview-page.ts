// `/overview` and `/r/O/R/overview`: problems without an open pull request, and weekly rule warnings.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { Severity } from '@catalog-bot/findings/finding'
import { htmlTemplate } from '../html.ts'
import {
  formatCatalogPageUrl,
  formatOverviewPageUrl,
  formatRepositoryPageUrl,
  formatRulePageUrl,
} from '../../report/urls.ts'
import { renderTable, type PageRequestContext, type StatusPage } from './status-page.ts'
import { formatCountWithNoun, renderTime } from './page-text.ts'

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
  const { repository, scan, missing, stranded, weeks, rules, owners } = model
  const named = `${repository.owner}/${repository.name}`
  const weekColumns = weeks.map(({ from }) => `#from ${from}`)
  return {
    title: `Overview of ${named}`,
    crumbs: [
      { label: named, to: formatRepositoryPageUrl(repository) },
      { label: 'overview', to: formatOverviewPageUrl(repository) },
    ],
    hasJson: true,
    body: htmlTemplate`
<h2>Missing images</h2><p class="faint">${
      scan.at === undefined
        ? 'No image scan has finished yet.'
        : htmlTemplate`The last image scan finished ${renderTime(scan.at, now)}. ${scan.unknown !== undefined && scan.unknown > 0 && `It was inconclusive for ${formatCountWithNoun(scan.unknown, 'image')}.`}`
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
    )}
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
    )}`,
  }
}
