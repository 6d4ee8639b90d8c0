// `/`: the repositories that the visitor may read, with their status.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { VerdictKind } from '../../policy/verdict.ts'
import { htmlTemplate, emptyHtml } from '../html.ts'
import {
  formatMergedPullsPageUrl,
  formatRepositoryPageUrl,
  formatRulePageUrl,
  formatSignInUrl,
} from '../../report/urls.ts'
import { renderTable, type PageRequestContext, type StatusPage } from './status-page.ts'
import { formatCountWithNoun, renderPullState, renderTime } from './page-text.ts'

export interface HomePageModel {
  readonly repositories: readonly {
    readonly repository: RepositoryName
    readonly isPublic: boolean
    readonly open: Readonly<Partial<Record<VerdictKind, number>>>
    readonly stops: number
    readonly lastMerge?: { readonly pull: number; readonly at: number }
  }[]
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
