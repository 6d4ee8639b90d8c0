// HTML templates that escape every value except markup from this module, which alone converts external text to markup.
import { escapeSourceLine, toSingleLineText } from '../report/escape.ts'
import type { ServerResponse } from 'node:http'

const maxHtmlTextLength = 10_000

const htmlEntityByCharacter: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => htmlEntityByCharacter[mark] ?? mark)
}

class EscapedHtml {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  static textOf(markup: EscapedHtml): string {
    return markup.#text
  }
  static is(value: unknown): value is EscapedHtml {
    return typeof value === 'object' && value !== null && #text in value
  }
}

/** Identified by a private field, so that no value from JSON passes as markup. */
export type Html = EscapedHtml

type HtmlTemplatePart = Html | string | number | false | undefined | readonly HtmlTemplatePart[]

/** Escapes text and numbers, omits `false` and `undefined`, and joins lists. Quote attributes with `"`. */
export function htmlTemplate(fixed: TemplateStringsArray, ...parts: readonly HtmlTemplatePart[]): Html {
  let text = fixed[0] ?? ''
  for (const [at, part] of parts.entries()) text += escapeHtmlTemplatePart(part) + (fixed[at + 1] ?? '')
  return new EscapedHtml(text)
}

export const emptyHtml: Html = new EscapedHtml('')

/** Wraps a picture from draw-svg.ts, which escapes its content. Screen readers see one image with a title. */
export const wrapSvgAsHtml = (svg: string): Html => new EscapedHtml(svg.replace('<svg ', '<svg role="img" '))

export const renderPreformattedText = (text: string): Html => new EscapedHtml(escapeHtml(text))

/** See escapeSourceLine(). */
export const renderSourceLine = (line: string): Html => new EscapedHtml(escapeHtml(escapeSourceLine(line)))

export const convertHtmlToString = (markup: Html): string => EscapedHtml.textOf(markup)

/**
 * Matches text that is not on one line, has markup characters or repeated spaces, is too long, or has characters other
 * than ASCII, European letters, dashes, quotation marks, and arrows and other signs, none of which is invisible.
 */
const textNeedingEscapingPattern =
  /[^ !#-%(-;=?-~\u00a1-\u00ac\u00ae-\u017f\u2010-\u2027\u2190-\u21ff\u2200-\u22ff\u25a0-\u25ff\u2713\u2717]| {2}|^.{10000}/

function escapeHtmlTemplatePart(part: HtmlTemplatePart): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'number') return String(part)
  // Fast path: nearly all text is plain, and a long page has thousands of texts.
  if (typeof part === 'string' && !textNeedingEscapingPattern.test(part)) return part
  // Invisible and bidirectional characters are shown as visible marks.
  if (typeof part === 'string')
    return `${/^\s/.test(part) ? ' ' : ''}${escapeHtml(toSingleLineText(part, maxHtmlTextLength))}${/\S\s$/.test(part) ? ' ' : ''}`
  if (EscapedHtml.is(part)) return EscapedHtml.textOf(part)
  return part.map(escapeHtmlTemplatePart).join('')
}

export interface HtmlPage {
  readonly title: string
  readonly body: Html
  /** Seconds until the browser reloads, and the address. */
  readonly refresh?: { readonly seconds: number; readonly to: string }
}

/** Has no character that HTML escapes. */
const pageStyles = `:root{color-scheme:light dark;--text:#1f2328;--back:#fff;--soft:#eff2f5;--line:#d1d9e0;--go:#1f883d;--wrong:#b3261e;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--back:#0d1117;--soft:#21262d;--line:#3d444d;--go:#238636;--wrong:#ff8a80;--link:#4493f8}}
body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:var(--text);background:var(--back)}
h1,h2{line-height:1.2}a{color:var(--link)}label{display:block;font-weight:600;margin-top:1.25rem}small{display:block;font-weight:400}
input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem .6rem;border:1px solid var(--line);border-radius:6px;color:inherit;background:var(--back)}
button{font:inherit;margin-top:1.25rem;padding:.5rem 1rem;border-radius:6px;border:1px solid var(--go);background:var(--go);color:#fff;cursor:pointer}
code,pre{background:var(--soft);border-radius:4px}code{padding:.1rem .3rem;overflow-wrap:anywhere}pre{padding:.75rem;overflow-x:auto}pre code{padding:0}
.wrong{display:block;color:var(--wrong);font-weight:600}table{border-collapse:collapse}th,td{text-align:left;padding:.25rem .75rem .25rem 0;vertical-align:top}`

function renderHtmlPage({ title, body, refresh }: HtmlPage): Html {
  const again =
    refresh && htmlTemplate`<meta http-equiv="refresh" content="${refresh.seconds};url=${refresh.to}">`
  return htmlTemplate`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}
<title>${title} · catalog-bot</title><style>${renderPreformattedText(pageStyles)}</style></head>
<body><h1>${title}</h1>${body}</body></html>`
}

/** `formsTo`: the only other origin that the page's forms may submit to. */
export function sendHtmlPage(response: ServerResponse, status: number, page: HtmlPage, formsTo = ''): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${formsTo}; base-uri 'none'; frame-ancestors 'none'`,
    })
    .end(convertHtmlToString(renderHtmlPage(page)))
}
