import { markup } from '../html.ts'
import { signInUrl } from './page-urls.ts'
import type { PageContext, StatusPage } from './status-page.ts'

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
  { path, login, canSignIn }: PageContext,
  more = '',
): StatusPage {
  const signIn = markup`<p><a href="${signInUrl(path)}">Sign in with GitHub</a></p>`
  switch (notice) {
    case 'not-found':
      return {
        title: 'Nothing to see here',
        crumbs: [],
        body: markup`<p>There is no such page, or you may not read it.</p>${
          login === undefined && canSignIn
            ? markup`<p>What belongs to a private repository is shown to people who can read that repository on GitHub.</p>${signIn}`
            : markup`<p>What belongs to a private repository is shown to people who can read that repository on GitHub, and only while the App is installed on it.</p>`
        }<p><a href="/">All repositories</a></p>`,
      }
    case 'sign-in':
      return {
        title: 'Please sign in',
        crumbs: [],
        body: markup`<p>These pages are for people who have signed in with GitHub.</p>${signIn}`,
      }
    case 'busy':
      return {
        title: 'Too busy',
        crumbs: [],
        body: markup`<p>The bot has other work to do first. Try again in a moment.</p>`,
      }
    case 'too-many':
      return {
        title: 'Too many pages at once',
        crumbs: [],
        body: markup`<p>Many pages were asked for from your address. Try again in a minute.</p>`,
      }
    case 'github-silent':
      return {
        title: 'GitHub does not answer',
        crumbs: [],
        body: markup`<p>The bot asked GitHub whether you may read this, and got no answer. Try again in a moment.</p>`,
      }
    case 'broken':
      return {
        title: 'The bot had an error',
        crumbs: [],
        body: markup`<p>It is not your fault. Whoever runs the bot finds it in the log${more !== '' && markup` under <code>${more}</code>`}.</p>`,
      }
    case 'refused':
      return {
        title: 'Not done',
        crumbs: [],
        body: markup`<p>${more === '' ? 'The bot did not do that.' : more}</p><p><a href="${path}">Back</a></p>`,
      }
    case 'signed-out':
      return {
        title: 'Signed out',
        crumbs: [],
        body: markup`<p>You have signed out.</p><p><a href="/">All repositories</a></p>`,
      }
  }
}
