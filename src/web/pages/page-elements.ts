// The elements of status pages: tables, cards, labels, times, and forms. They escape all text.
import { formatIsoTime, formatUtcMinute } from '@catalog-bot/findings/printable'
import type { VerdictKind } from '../../policy/verdict.ts'
import { emptyHtml, htmlTemplate, type Html } from '../html.ts'

export type PageTone = 'good' | 'calm' | 'bad' | 'unsure'

/** Characters that a text may have without being folded, and that a folded one shows. */
const [maxOpenTextLength, maxFoldedTextLength] = [280, 2000]

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
  readonly tone: PageTone
}

const stateLabelByVerdict: Readonly<Record<VerdictKind, PullStateLabel>> = {
  merge: { word: 'ready to merge', sign: '✓', tone: 'good' },
  wait: { word: 'waiting for review', sign: '◔', tone: 'calm' },
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

/** `12,345`. Without Intl, which takes longer to load than a page to render. */
export const formatNumber = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const formatCountWithNoun = (number: number, one: string, more = `${one}s`): string =>
  `${formatNumber(number)} ${number === 1 ? one : more}`

/** A table with headings for screen readers, or a sentence if it is empty. Wide tables scroll separately. */
export function renderTable(
  {
    label,
    columns,
    empty,
    isStacked = false,
  }: {
    readonly label: string
    /** A leading `#` marks a number column. */
    readonly columns: readonly string[]
    readonly empty: string
    /** On a narrow screen, each row becomes a block instead of scrolling. */
    readonly isStacked?: boolean
  },
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  if (rows.length === 0) return renderEmptyState(empty)
  const isNumber = columns.map((column) => column.startsWith('#'))
  return htmlTemplate`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table${isStacked && htmlTemplate` class="stacked"`}>
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

/** `3 hours ago 2026-11-22 10:00 UTC`. For lists, see renderRelativeTime(). */
export function renderTime(at: number, now: number): Html {
  return htmlTemplate`<time datetime="${formatIsoTime(at)}"><span class="when">${formatRelativeTime(at, now)}</span> <span class="clock">${formatUtcMinute(at)}</span></time>`
}

/** `3 hours ago`, with the time as a tooltip. */
export function renderRelativeTime(at: number, now: number): Html {
  return htmlTemplate`<time class="when" datetime="${formatIsoTime(at)}" title="${formatUtcMinute(at)}">${formatRelativeTime(at, now)}</time>`
}

/** `3 hours`, with the start as a tooltip. */
export function renderDurationSince(at: number, now: number): Html {
  return htmlTemplate`<time class="when" datetime="${formatIsoTime(at)}" title="since ${formatUtcMinute(at)}">${formatDuration(now - at)}</time>`
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

export const shortenSha = (commit: string): string => commit.slice(0, 12)

export function formatTextAsSentence(clause: string): string {
  const text = clause.trim()
  if (text === '') return ''
  const first = text.startsWith('catalog-bot') ? 'c' : text.charAt(0).toUpperCase()
  return `${first}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** A few words in a colored oval. The words must be sufficient without the color. */
export function renderLabel(tone: PageTone, content: Html | string): Html {
  return htmlTemplate`<span class="label ${tone}">${content}</span>`
}

/** A box below an `h2`, with a colored edge. Its heading is an `h3`. */
export function renderCard({
  tone = 'calm',
  heading,
  body,
}: {
  readonly tone?: PageTone
  readonly heading: Html | string
  readonly body: Html
}): Html {
  return htmlTemplate`<section class="card tone-${tone}"><h3>${heading}</h3>${body}</section>`
}

/** A message in a box without a heading. `body` consists of paragraphs. */
export function renderNote(tone: PageTone, body: Html): Html {
  return htmlTemplate`<div class="note tone-${tone}">${body}</div>`
}

export function renderEmptyState(sentence: Html | string): Html {
  return htmlTemplate`<p class="empty">${sentence}</p>`
}

/** Hides `body` until the reader opens it. `id`, unique on the page, keeps it open when the page updates. */
export function renderFold(id: string, summary: Html | string, body: Html): Html {
  return htmlTemplate`<details id="${id}"><summary>${summary}</summary>${body}</details>`
}

/** The first sentences of a long text, such as an explanation of a resolver. See renderFullText(). */
export function shortenText(text: string): string {
  if (text.length <= maxOpenTextLength) return text
  const start = text.slice(0, maxOpenTextLength).toWellFormed()
  const end = start.lastIndexOf('. ')
  return end > 0 ? start.slice(0, end + 1) : `${start.slice(0, Math.max(start.lastIndexOf(' '), 1))} …`
}

/** A fold with the whole text, if shortenText() omits some of it. `id`: see renderFold(). */
export function renderFullText(id: string, text: string): Html {
  return text.length <= maxOpenTextLength
    ? emptyHtml
    : renderFold(id, 'Full text', htmlTemplate`<p>${text.slice(0, maxFoldedTextLength).toWellFormed()}</p>`)
}

/** Pairs of a term and its description. */
export function renderFacts(facts: readonly (readonly [term: string, description: Html | string])[]): Html {
  return htmlTemplate`<dl>${facts.map(([term, description]) => htmlTemplate`<dt>${term}</dt><dd>${description}</dd>`)}</dl>`
}

/** A path that breaks only after a slash, or where a part of it is wider than the screen. */
export function renderPath(path: string): Html {
  return htmlTemplate`<code>${path.split('/').map((part, at) => [at > 0 && htmlTemplate`/<wbr>`, part])}</code>`
}

/** Links to views of the same list. The current one is marked. */
export function renderViewLinks(
  label: string,
  views: readonly { readonly label: string; readonly to: string; readonly isCurrent: boolean }[],
): Html {
  return htmlTemplate`<nav aria-label="${label}"><ul class="chips">${views.map(
    ({ label: name, to, isCurrent }) =>
      htmlTemplate`<li><a href="${to}"${isCurrent && htmlTemplate` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`
}

export interface FilterField {
  /** The query parameter. */
  readonly name: string
  readonly label: string
  readonly value: string
  /** Present: a list to choose from, whose first entry is usually `['', 'all']`. Absent: free text. */
  readonly options?: readonly (readonly [value: string, label: string])[]
}

/** A form that requests the same page with query parameters, without scripts. `fixed`: parameters that it keeps. */
export function renderFilterForm(
  action: string,
  fields: readonly FilterField[],
  fixed: Readonly<Record<string, string>> = {},
  button = 'Filter',
): Html {
  // Lists without an entry for "all" always have a value.
  const isFiltered = fields.some(
    ({ value, options }) => value !== '' && (options === undefined || options.some(([key]) => key === '')),
  )
  return htmlTemplate`<form class="filter" method="get" action="${action}">${Object.entries(fixed).map(
    ([name, value]) => htmlTemplate`<input type="hidden" name="${name}" value="${value}" />`,
  )}${fields.map(
    ({ name, label, value, options }) =>
      htmlTemplate`<label>${label} ${
        options === undefined
          ? htmlTemplate`<input type="search" name="${name}" value="${value}" maxlength="200" />`
          : htmlTemplate`<select name="${name}">${options.map(
              ([key, text]) =>
                htmlTemplate`<option value="${key}"${key === value && htmlTemplate` selected`}>${text}</option>`,
            )}</select>`
      }</label>`,
  )}<button class="quiet">${button}</button>${isFiltered ? htmlTemplate`<a href="${action}">Clear</a>` : emptyHtml}</form>`
}

/** Links to the previous and the next page of a list. Pages are counted from 1. */
export function renderPagination(
  path: string,
  parameters: Readonly<Record<string, string>>,
  page: number,
  pages: number,
): Html {
  if (pages <= 1) return emptyHtml
  const renderLink = (to: number, rel: string, label: string) =>
    to >= 1 &&
    to <= pages &&
    htmlTemplate`<li><a rel="${rel}" href="${path}?${String(new URLSearchParams({ ...parameters, page: String(to) }))}">${label}</a></li>`
  return htmlTemplate`<nav aria-label="Pages"><ul class="links">${renderLink(page - 1, 'prev', 'Previous')}<li>Page ${page} of ${pages}</li>${renderLink(page + 1, 'next', 'Next')}</ul></nav>`
}
