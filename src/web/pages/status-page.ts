// The frame, the style sheet, and the notices of every status page. No scripts.
import { createHash } from 'node:crypto'
import { formatIsoTime } from '@catalog-bot/findings/printable'
import { htmlTemplate, emptyHtml, convertHtmlToString, type Html } from '../html.ts'
import { homePageUrl, formatSignInUrl } from '../../report/urls.ts'
import type { VerdictKind } from '../../policy/verdict.ts'

export type NoticePageKind =
  'not-found' | 'sign-in' | 'busy' | 'too-many' | 'github-silent' | 'broken' | 'refused' | 'signed-out'

export const httpStatusByNoticePageKind: Readonly<Record<NoticePageKind, number>> = {
  'not-found': 404,
  'sign-in': 401,
  busy: 503,
  'too-many': 429,
  'github-silent': 503,
  broken: 500,
  refused: 403,
  'signed-out': 200,
}

const titleByNoticePageKind: Readonly<Record<NoticePageKind, string>> = {
  'not-found': 'Page not found',
  'sign-in': 'Sign in to continue',
  busy: 'catalog-bot is busy',
  'too-many': 'Too many requests',
  'github-silent': 'GitHub is not responding',
  broken: 'Internal error',
  refused: 'Action failed',
  'signed-out': 'Signed out',
}

/** `2026-11-22 10:00 UTC`. */
const formatUtcMinute = (milliseconds: number): string =>
  `${formatIsoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

const durationUnits: readonly (readonly [seconds: number, one: string, more: string])[] = [
  [86_400, 'day', 'days'],
  [3600, 'hour', 'hours'],
  [60, 'minute', 'minutes'],
]

/** Times close to now are not shown to the second. */
export const renderFutureTime = (at: number, now: number): Html | string =>
  at > now + 60_000 ? renderTime(at, now) : 'in a moment'

interface PullStateLabel {
  readonly word: string
  /** Shown with the color, for people who cannot distinguish colors. */
  readonly sign: string
  readonly tone: 'good' | 'calm' | 'bad' | 'unsure'
}

const stateLabelByVerdict: Readonly<Record<VerdictKind, PullStateLabel>> = {
  merge: { word: 'ready to merge', sign: '✓', tone: 'good' },
  wait: { word: 'waiting for review', sign: '⏳', tone: 'calm' },
  blocked: { word: 'blocked', sign: '✗', tone: 'bad' },
  unknown: { word: 'inconclusive', sign: '?', tone: 'unsure' },
}

const labelByNonVerdictPullState = {
  merging: { word: 'merging now', sign: '↻', tone: 'good' },
  behind: { word: 'in the queue', sign: '≡', tone: 'good' },
  merged: { word: 'merged', sign: '✓', tone: 'good' },
  closed: { word: 'closed', sign: '–', tone: 'calm' },
  stopped: { word: 'frozen', sign: '■', tone: 'bad' },
} as const satisfies Readonly<Record<string, PullStateLabel>>

export type PullDisplayState = VerdictKind | keyof typeof labelByNonVerdictPullState

export const formatPullState = (shown: PullDisplayState): string => getPullStateLabel(shown).word
/** Shared, because creating one per number takes longer than rendering a page. */
const englishNumberFormat = new Intl.NumberFormat('en')

export const formatCountWithNoun = (number: number, one: string, more = `${one}s`): string =>
  `${englishNumberFormat.format(number)} ${number === 1 ? one : more}`

export interface Breadcrumb {
  readonly label: string
  readonly to: string
}

export interface StatusPage {
  readonly title: string
  readonly crumbs: readonly Breadcrumb[]
  readonly body: Html
  /** Whether the page is also available as JSON. */
  readonly hasJson?: boolean
  readonly feed?: string
}

export interface PageRequestContext {
  readonly path: string
  readonly now: number
  /** Absent if not signed in. */
  readonly login?: string | undefined
  readonly canSignIn: boolean
}

const stylesheetText = `:root{color-scheme:light dark;--text:#1f2328;--faint:#59636e;--back:#fff;--soft:#f6f8fa;--line:#d1d9e0;--link:#0550ae;--good:#116329;--calm:#59636e;--bad:#a40e26;--unsure:#7d4e00;--button:#1a7f37}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--faint:#9ea7b3;--back:#0d1117;--soft:#161b22;--line:#3d444d;--link:#6cb6ff;--good:#56d364;--calm:#9ea7b3;--bad:#ff8a80;--unsure:#e3b341;--button:#1a7f37}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--text);background:var(--back);overflow-wrap:break-word}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;justify-content:space-between;padding-top:.75rem;padding-bottom:.75rem;border-bottom:1px solid var(--line)}
header form{margin:0}nav ol{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem;margin:0;padding:0}nav li+li::before{content:"/";color:var(--faint);padding:0 .4rem}
main{padding-top:1rem;padding-bottom:2rem}footer{border-top:1px solid var(--line);padding-top:.75rem;padding-bottom:2rem;color:var(--faint);font-size:.875rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0 1rem}h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}
a{color:var(--link)}a:focus-visible,button:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.scroll{overflow-x:auto;margin:0 0 1rem}table{border-collapse:collapse;width:100%}caption{text-align:left;color:var(--faint);padding-bottom:.25rem}
th,td{text-align:left;padding:.45rem .9rem .45rem 0;vertical-align:top;border-bottom:1px solid var(--line)}thead th{font-weight:600;white-space:nowrap;border-bottom-width:2px}tbody th{font-weight:400;min-width:13rem}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
.state{white-space:nowrap;font-weight:600}.good{color:var(--good)}.calm{color:var(--calm)}.bad{color:var(--bad)}.unsure{color:var(--unsure)}
.when{white-space:nowrap}.clock,.faint{color:var(--faint);font-size:.875rem}.clock{white-space:nowrap}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875rem;background:var(--soft);border-radius:4px}code{padding:.1rem .3rem;overflow-wrap:anywhere}pre{padding:.75rem;overflow-x:auto;border:1px solid var(--line)}pre code{padding:0;background:none}
.note{border:1px solid var(--line);border-left:4px solid var(--calm);border-radius:4px;padding:.6rem .9rem;margin:0 0 1rem;background:var(--soft)}.note.bad{border-left-color:var(--bad);color:inherit}.note.good{border-left-color:var(--good);color:inherit}.note p{margin:.2rem 0}
ul.plain{list-style:none;margin:0;padding:0}ul.facts{padding-left:1.2rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0 0 1rem}dt{color:var(--faint)}dd{margin:0}
.links{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:0 0 1rem;list-style:none}
button{font:inherit;padding:.35rem .8rem;border-radius:6px;border:1px solid var(--button);background:var(--button);color:#fff;cursor:pointer}button.quiet{background:none;border-color:var(--line);color:var(--link)}
figure{margin:0 0 1rem}figure svg{display:block;border:1px solid var(--line);border-radius:6px}.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:.5rem;background:var(--back);padding:.5rem}
@media (max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}h1{font-size:1.35rem}.clock{white-space:normal}}
@media print{header form,footer{display:none}}`

/** The style sheet and its version, which is part of its address. */
export const minifiedStylesheet = stylesheetText
export const stylesheetVersion = createHash('sha256').update(stylesheetText).digest('hex').slice(0, 12)
const stylesheetUrl = `/pages.css?v=${stylesheetVersion}`

export function renderStatusPage(
  { title, crumbs, body, hasJson, feed }: StatusPage,
  setting: PageRequestContext,
): string {
  const { path, now } = setting
  const jsonPath = path === homePageUrl ? '/home.json' : `${path}.json`
  return `<!doctype html>\n${convertHtmlToString(
    htmlTemplate`<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><title>${title} · catalog-bot</title><link rel="stylesheet" href="${stylesheetUrl}" /> ${
      feed !== undefined &&
      htmlTemplate`<link rel="alternate" type="application/atom+xml" title="Merged pull requests" href="${feed}"/>`
    }</head>
<body><a class="skip" href="#content">Skip to content</a>
<header><nav aria-label="Breadcrumb"><ol>${[{ label: 'catalog-bot', to: homePageUrl }, ...crumbs].map(
      ({ label, to }) =>
        htmlTemplate`<li>${to === path ? htmlTemplate`<a href="${to}" aria-current="page">${label}</a>` : htmlTemplate`<a href="${to}">${label}</a>`}</li>`,
    )}</ol></nav>${renderSignInStatus(setting)}</header>
<main id="content"><h1>${title}</h1>${body}</main>
<footer><p>As of ${formatUtcMinute(now)}. Reload the page for the latest state.${hasJson === true && htmlTemplate` <a href="${jsonPath}">View as JSON</a>`}${feed !== undefined && htmlTemplate` · <a href="${feed}">Feed (Atom)</a>`}</p></footer></body></html>`,
  )}\n`
}

function renderSignInStatus({ login, canSignIn, path }: PageRequestContext): Html {
  if (login !== undefined)
    return htmlTemplate`<form method="post" action="/sign-out"><span class="faint">signed in as ${login}</span> <button class="quiet">Sign out</button></form>`
  return canSignIn ? htmlTemplate`<a href="${formatSignInUrl(path)}">Sign in with GitHub</a>` : emptyHtml
}

/** A table with headings for screen readers, or a sentence if it is empty. Wide tables scroll separately. */
export function renderTable(
  {
    label,
    columns,
    empty,
  }: {
    readonly label: string
    /** A leading `#` marks a number column. */
    readonly columns: readonly string[]
    readonly empty: string
  },
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  if (rows.length === 0) return htmlTemplate`<p class="faint">${empty}</p>`
  const isNumber = columns.map((column) => column.startsWith('#'))
  return htmlTemplate`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map((column, at) =>
    isNumber[at] === true
      ? htmlTemplate`<th scope="col" class="number">${column.slice(1)}</th>`
      : htmlTemplate`<th scope="col">${column}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (cells) =>
      htmlTemplate`<tr>${cells.map((cell, at) =>
        at === 0
          ? htmlTemplate`<th scope="row">${cell}</th>`
          : isNumber[at] === true
            ? htmlTemplate`<td class="number">${cell}</td>`
            : htmlTemplate`<td>${cell}</td>`,
      )}</tr>`,
  )}</tbody></table></div>`
}

/** `3 hours`, `less than a minute`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000
  for (const [length, one, more] of durationUnits)
    if (seconds >= length) {
      const count = Math.floor(seconds / length)
      return `${count} ${count === 1 ? one : more}`
    }
  return 'less than a minute'
}

function formatRelativeTime(at: number, now: number): string {
  return at > now + 60_000 ? `in ${formatDuration(at - now)}` : `${formatDuration(now - at)} ago`
}

export function renderTime(at: number, now: number): Html {
  return htmlTemplate`<time datetime="${formatIsoTime(at)}"><span class="when">${formatRelativeTime(at, now)}</span> <span class="clock">${formatUtcMinute(at)}</span></time>`
}

export function renderPullState(shown: PullDisplayState): Html {
  const { word, sign, tone } = getPullStateLabel(shown)
  return htmlTemplate`<span class="state ${tone}"><span aria-hidden="true">${sign}</span> ${word}</span>`
}

function getPullStateLabel(shown: PullDisplayState): PullStateLabel {
  return shown in labelByNonVerdictPullState
    ? labelByNonVerdictPullState[shown as keyof typeof labelByNonVerdictPullState]
    : stateLabelByVerdict[shown as VerdictKind]
}

export function shortenSha(commit: string): string {
  return commit.slice(0, 12)
}

export function formatTextAsSentence(clause: string): string {
  const text = clause.trim()
  if (text === '') return ''
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** Shows the same page for missing and forbidden content, so that it reveals neither. */
export function renderNoticePage(notice: NoticePageKind, setting: PageRequestContext, more = ''): StatusPage {
  return { title: titleByNoticePageKind[notice], crumbs: [], body: renderNoticeBody(notice, setting, more) }
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
