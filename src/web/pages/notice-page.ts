import { htmlTemplate, type Html } from '../html.ts'
import { formatSignInUrl } from '../../report/page-urls.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'

export type NoticeKind =
  'not-found' | 'sign-in' | 'busy' | 'too-many' | 'github-silent' | 'broken' | 'refused' | 'signed-out'

export const httpStatusByNotice: Readonly<Record<NoticeKind, number>> = {
  'not-found': 404,
  'sign-in': 401,
  busy: 503,
  'too-many': 429,
  'github-silent': 503,
  broken: 500,
  refused: 403,
  'signed-out': 200,
}

const titleByNotice: Readonly<Record<NoticeKind, string>> = {
  'not-found': 'Page not found',
  'sign-in': 'Sign in to continue',
  busy: 'catalog-bot is busy',
  'too-many': 'Too many requests',
  'github-silent': 'GitHub is not responding',
  broken: 'Internal error',
  refused: 'Action failed',
  'signed-out': 'Signed out',
}

/** Shows the same page for missing and forbidden content, so that it reveals neither. */
export function renderNoticePage(notice: NoticeKind, setting: PageRequestContext, more = ''): StatusPage {
  return { title: titleByNotice[notice], crumbs: [], body: renderNoticeBody(notice, setting, more) }
}

function renderNoticeBody(
  notice: NoticeKind,
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
