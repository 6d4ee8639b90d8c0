import { htmlTemplate } from '../html.ts'
import { formatSignInUrl } from '../../report/urls.ts'
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

/** Shows the same page for missing and forbidden content, so that it reveals neither. */
export function renderNoticePage(
  notice: NoticeKind,
  { path, login, canSignIn }: PageRequestContext,
  more = '',
): StatusPage {
  const signIn = htmlTemplate`<p><a href="${formatSignInUrl(path)}">Sign in with GitHub</a></p>`
  switch (notice) {
    case 'not-found':
      return {
        title: 'Page not found',
        crumbs: [],
        body: htmlTemplate`<p>This page does not exist, or you do not have permission to view it.</p>${
          login === undefined && canSignIn
            ? htmlTemplate`<p>Pages of a private repository are visible only to users who can read that repository on GitHub.</p>${signIn}`
            : htmlTemplate`<p>Pages of a private repository are visible only to users who can read that repository on GitHub, and only while the App is installed on it.</p>`
        }<p><a href="/">All repositories</a></p>`,
      }
    case 'sign-in':
      return {
        title: 'Sign in to continue',
        crumbs: [],
        body: htmlTemplate`<p>Sign in with GitHub to view these pages.</p>${signIn}`,
      }
    case 'busy':
      return {
        title: 'catalog-bot is busy',
        crumbs: [],
        body: htmlTemplate`<p>catalog-bot is handling higher-priority work. Try again in a moment.</p>`,
      }
    case 'too-many':
      return {
        title: 'Too many requests',
        crumbs: [],
        body: htmlTemplate`<p>Your IP address sent too many requests. Try again in a minute.</p>`,
      }
    case 'github-silent':
      return {
        title: 'GitHub is not responding',
        crumbs: [],
        body: htmlTemplate`<p>catalog-bot could not verify your access with GitHub. Try again in a moment.</p>`,
      }
    case 'broken':
      return {
        title: 'Internal error',
        crumbs: [],
        body: htmlTemplate`<p>catalog-bot hit an internal error. Ask a bot administrator to check the log${more !== '' && htmlTemplate` for <code>${more}</code>`}.</p>`,
      }
    case 'refused':
      return {
        title: 'Action failed',
        crumbs: [],
        body: htmlTemplate`<p>${more === '' ? 'catalog-bot did not perform this action.' : more}</p><p><a href="${path}">Back</a></p>`,
      }
    case 'signed-out':
      return {
        title: 'Signed out',
        crumbs: [],
        body: htmlTemplate`<p>You are signed out.</p><p><a href="/">All repositories</a></p>`,
      }
  }
}
