// `/merged`: what the bot merged, newest first, also as an Atom feed.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { htmlTemplate, convertHtmlToString } from '../html.ts'
import { formatMergedPullsPageUrl, formatPullPageUrl, formatRepositoryPageUrl } from '../../report/urls.ts'
import { renderTable, type PageRequestContext, type StatusPage } from './status-page.ts'
import { shortenSha, renderTime } from './page-text.ts'

export interface MergedPageModel {
  readonly repository?: RepositoryName
  readonly pulls: readonly {
    readonly repository: RepositoryName
    readonly pull: number
    readonly title: string
    readonly author?: string
    readonly baseRef: string
    readonly commit: string
    readonly mergedAt: number
  }[]
  readonly before?: number
}

export function renderMergedPage(
  { repository, pulls, before }: MergedPageModel,
  { now }: PageRequestContext,
): StatusPage {
  const named = repository && `${repository.owner}/${repository.name}`
  const address = formatMergedPullsPageUrl(repository)
  return {
    title: named === undefined ? 'Merged pull requests' : `Merged in ${named}`,
    crumbs: [
      ...(repository === undefined || named === undefined
        ? []
        : [{ label: named, to: formatRepositoryPageUrl(repository) }]),
      { label: 'merged', to: address },
    ],
    hasJson: true,
    feed: `${address}.atom`,
    body: htmlTemplate`${renderTable(
      {
        label: 'Merged pull requests',
        columns: [
          'Pull request',
          ...(named === undefined ? ['Repository'] : []),
          'Branch',
          'Commit',
          'Merged',
        ],
        empty: 'catalog-bot has not merged any pull requests here yet.',
      },
      pulls.map((one) => [
        htmlTemplate`<a href="${formatPullPageUrl(one.repository, one.pull)}">#${one.pull}</a> ${getPullTitle(one)}${one.author !== undefined && htmlTemplate`<br /><span class="faint">${one.author}</span>`}`,
        ...(named === undefined
          ? [
              htmlTemplate`<a href="${formatRepositoryPageUrl(one.repository)}">${one.repository.owner}/${one.repository.name}</a>`,
            ]
          : []),
        htmlTemplate`<code>${one.baseRef}</code>`,
        htmlTemplate`<code>${shortenSha(one.commit)}</code>`,
        renderTime(one.mergedAt, now),
      ]),
    )}${before !== undefined && htmlTemplate`<p><a href="${address}?before=${before}">Older</a></p>`}`,
  }
}

const getPullTitle = ({ title, pull }: { readonly title: string; readonly pull: number }): string =>
  title === '' ? `Pull request ${pull}` : title

/** RFC 4287. Ids are stable while `publicUrl` stays the same; without one they are GitHub's addresses. */
export function renderMergedPullsFeed(
  { repository, pulls }: MergedPageModel,
  { publicUrl, webUrl }: { readonly publicUrl: string | undefined; readonly webUrl: string },
  now: number,
): string {
  const page = formatMergedPullsPageUrl(repository)
  const toFeedUrl = (path: string) =>
    publicUrl === undefined ? `${webUrl}${path.replace(/^\/r(?=\/)|\/merged$/g, '')}` : `${publicUrl}${path}`
  const name = repository === undefined ? 'catalog-bot' : `${repository.owner}/${repository.name}`
  return `<?xml version="1.0" encoding="utf-8"?>\n${convertHtmlToString(
    htmlTemplate`<feed xmlns="http://www.w3.org/2005/Atom"><title>Merged: ${name}</title><id>${toFeedUrl(page)}</id><link rel="self" href="${publicUrl ?? ''}${page}.atom" /><link href="${toFeedUrl(page)}" /><updated>${formatIsoTime(pulls[0]?.mergedAt ?? now)}</updated>${pulls.map(
      (one) =>
        htmlTemplate`<entry><title>${one.repository.owner}/${one.repository.name}#${one.pull}: ${getPullTitle(one)}</title><id>${toFeedUrl(formatPullPageUrl(one.repository, one.pull))}</id><link href="${toFeedUrl(formatPullPageUrl(one.repository, one.pull))}" /><updated>${formatIsoTime(one.mergedAt)}</updated><author><name>${one.author ?? 'unknown'}</name></author><summary>Merged into ${one.baseRef} as ${one.commit}.</summary></entry>`,
    )}</feed>`,
  )}\n`
}
