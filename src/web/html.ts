// HTML templates that escape every value except markup made here. The only place where external text becomes markup.
import { toOneLine } from '../report/escape.ts'
import { escapeHtml } from './escape-html.ts'

const maxTextLength = 10_000

class Markup {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  static textOf(markup: Markup): string {
    return markup.#text
  }
  static is(value: unknown): value is Markup {
    return typeof value === 'object' && value !== null && #text in value
  }
}

/** Identified by a private field, so that no value from JSON passes as markup. */
export type Html = Markup

type HtmlTemplatePart = Html | string | number | false | undefined | readonly HtmlTemplatePart[]

/** Escapes text and numbers, omits `false` and `undefined`, and joins lists. Quote attributes with `"`. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly HtmlTemplatePart[]): Html {
  let text = fixed[0] ?? ''
  for (const [at, part] of parts.entries()) text += escapePart(part) + (fixed[at + 1] ?? '')
  return new Markup(text)
}

export const emptyHtml: Html = new Markup('')

/** Wraps a picture from draw-svg.ts, which escapes its content. Screen readers see one image with a title. */
export function wrapSvg(svg: string): Html {
  return new Markup(svg.replace('<svg ', '<svg role="img" '))
}

export function renderPreformatted(text: string): Html {
  return new Markup(escapeHtml(text))
}

export function renderMarkup(markup: Html): string {
  return Markup.textOf(markup)
}

/** Matches text that is not plain ASCII on one line, has markup characters or repeated spaces, or is too long. */
const unsafeTextPattern = /[^ !#-%(-;=?-~]| {2}|^.{10000}/

function escapePart(part: HtmlTemplatePart): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'number') return String(part)
  // Fast path: nearly all text is plain, and a long page has thousands of texts.
  if (typeof part === 'string' && !unsafeTextPattern.test(part)) return part
  // Invisible and bidirectional characters are shown as visible marks.
  if (typeof part === 'string')
    return `${/^\s/.test(part) ? ' ' : ''}${escapeHtml(toOneLine(part, maxTextLength))}${/\S\s$/.test(part) ? ' ' : ''}`
  if (Markup.is(part)) return Markup.textOf(part)
  return part.map(escapePart).join('')
}
