// The frame and the notices of every status page.
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { htmlTemplate, emptyHtml, convertHtmlToString, type Html } from '../html.ts'
import {
  homePageUrl,
  formatCatalogsPageUrl,
  formatEventsUrl,
  formatMergedPullsPageUrl,
  formatOperationsPageUrl,
  formatOverviewPageUrl,
  formatRepositoryPageUrl,
  formatSignInUrl,
} from '../../report/urls.ts'
import { scriptAsset, stylesheetAsset } from './page-assets.ts'
import { formatUtcMinute } from '@catalog-bot/findings/printable'

export const noticePages = {
  'not-found': { status: 404, title: 'Page not found' },
  'sign-in': { status: 401, title: 'Sign in to continue' },
  busy: { status: 503, title: 'catalog-bot is busy' },
  'too-many': { status: 429, title: 'Too many requests' },
  'github-silent': { status: 503, title: 'GitHub is not responding' },
  broken: { status: 500, title: 'Internal error' },
  refused: { status: 403, title: 'Action failed' },
  'signed-out': { status: 200, title: 'Signed out' },
} as const

export type NoticePageKind = keyof typeof noticePages

export interface Breadcrumb {
  readonly label: string
  readonly to: string
}

/** The pages of a repository, in the order of the tabs. */
const repositorySections = {
  queue: ['Queue', formatRepositoryPageUrl],
  merged: ['Merged', formatMergedPullsPageUrl],
  catalogs: ['Catalogs', formatCatalogsPageUrl],
  operations: ['Operations', formatOperationsPageUrl],
  overview: ['Problems', formatOverviewPageUrl],
} as const

export type RepositorySection = keyof typeof repositorySections

export interface StatusPage {
  readonly title: string
  /** The heading, if it is more than the title. */
  readonly heading?: Html
  /** Present on the pages of a repository: its tabs and its breadcrumb, and which of the tabs contains the page. */
  readonly tabs?: { readonly repository: RepositoryName; readonly current: RepositorySection }
  /** Below the home page and, with `tabs`, below the repository. */
  readonly crumbs: readonly Breadcrumb[]
  readonly body: Html
  /** Whether the page is also available as JSON. */
  readonly hasJson?: boolean
  readonly feed?: string
  /** Whether the page updates when something in its repository changes. Requires `tabs`. */
  readonly isLive?: boolean
}

export interface PageRequestContext {
  readonly path: string
  readonly now: number
  /** Absent if not signed in. */
  readonly login?: string | undefined
  readonly canSignIn: boolean
}

export function renderStatusPage(
  { title, heading, tabs, crumbs, body, hasJson, feed, isLive }: StatusPage,
  setting: PageRequestContext,
): string {
  const { path, now } = setting
  const events = isLive === true && tabs ? formatEventsUrl(tabs.repository) : undefined
  const jsonPath = path === homePageUrl ? '/home.json' : `${path}.json`
  return `<!doctype html>\n${convertHtmlToString(
    htmlTemplate`<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><title>${title} · catalog-bot</title><link rel="stylesheet" href="${stylesheetAsset.url}" />${events !== undefined && htmlTemplate`<script src="${scriptAsset.url}" defer></script>`} ${
      feed !== undefined &&
      htmlTemplate`<link rel="alternate" type="application/atom+xml" title="Merged pull requests" href="${feed}"/>`
    }</head>
<body><a class="skip" href="#content">Skip to content</a>
<header><div class="top"><nav class="crumbs" aria-label="Breadcrumb"><ol>${[
      { label: 'catalog-bot', to: homePageUrl },
      ...(tabs ? [createRepositoryBreadcrumb(tabs.repository)] : []),
      ...crumbs,
    ].map(
      ({ label, to }) =>
        htmlTemplate`<li>${to === path ? htmlTemplate`<a href="${to}" aria-current="page">${label}</a>` : htmlTemplate`<a href="${to}">${label}</a>`}</li>`,
    )}</ol></nav>${renderSignInStatus(setting)}</div>${tabs && renderRepositoryTabs(tabs)}</header>
<main id="content"${events !== undefined && htmlTemplate` data-events="${events}"`}><h1>${heading ?? title}</h1>${body}</main>
<footer><p>As of ${formatUtcMinute(now)}.<span class="reload"> Reload the page for the latest state.</span><span class="updates"> This page updates automatically.</span>${hasJson === true && htmlTemplate` <a href="${jsonPath}">View as JSON</a>`}${feed !== undefined && htmlTemplate` · <a href="${feed}">Feed (Atom)</a>`}</p></footer></body></html>`,
  )}\n`
}

function createRepositoryBreadcrumb(repository: RepositoryName): Breadcrumb {
  return { label: `${repository.owner}/${repository.name}`, to: formatRepositoryPageUrl(repository) }
}

function renderRepositoryTabs({ repository, current }: NonNullable<StatusPage['tabs']>): Html {
  return htmlTemplate`<nav class="tabs" aria-label="Repository"><ul>${Object.entries(repositorySections).map(
    ([section, [label, formatUrl]]) =>
      htmlTemplate`<li><a href="${formatUrl(repository)}"${section === current && htmlTemplate` aria-current="true"`}>${label}</a></li>`,
  )}</ul></nav>`
}

function renderSignInStatus({ login, canSignIn, path }: PageRequestContext): Html {
  if (login !== undefined)
    return htmlTemplate`<form method="post" action="/sign-out"><span class="faint">signed in as ${login}</span> <button class="quiet">Sign out</button></form>`
  return canSignIn ? htmlTemplate`<a href="${formatSignInUrl(path)}">Sign in with GitHub</a>` : emptyHtml
}

/** Shows the same page for missing and forbidden content, so that it reveals neither. */
export function renderNoticePage(notice: NoticePageKind, setting: PageRequestContext, more = ''): StatusPage {
  return { title: noticePages[notice].title, crumbs: [], body: renderNoticeBody(notice, setting, more) }
}

function renderNoticeBody(
  notice: NoticePageKind,
  { path, login, canSignIn }: PageRequestContext,
  more: string,
): Html {
  const signIn = htmlTemplate`<p><a href="${formatSignInUrl(path)}">Sign in with GitHub</a></p>`
  switch (notice) {
    case 'not-found':
      return htmlTemplate`<p>This page does not exist, or you do not have permission to view it.</p>${
        login === undefined && canSignIn
          ? htmlTemplate`<p>Pages of a private repository are visible only to users who can read that repository on GitHub.</p>${signIn}`
          : htmlTemplate`<p>Pages of a private repository are visible only to users who can read that repository on GitHub, and only while the App is installed on it.</p>`
      }<p><a href="/">All repositories</a></p>`
    case 'sign-in':
      return htmlTemplate`<p>Sign in with GitHub to view these pages.</p>${signIn}`
    case 'busy':
      return htmlTemplate`<p>catalog-bot is handling higher-priority work. Try again in a moment.</p>`
    case 'too-many':
      return htmlTemplate`<p>Your IP address sent too many requests. Try again in a minute.</p>`
    case 'github-silent':
      return htmlTemplate`<p>catalog-bot could not verify your access with GitHub. Try again in a moment.</p>`
    case 'broken':
      return htmlTemplate`<p>catalog-bot hit an internal error. Ask a bot administrator to check the log${more !== '' && htmlTemplate` for <code>${more}</code>`}.</p>`
    case 'refused':
      return htmlTemplate`<p>${more === '' ? 'catalog-bot did not perform this action.' : more}</p><p><a href="${path}">Back</a></p>`
    case 'signed-out':
      return htmlTemplate`<p>You are signed out.</p><p><a href="/">All repositories</a></p>`
  }
}
