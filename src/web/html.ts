// HTML templates that escape every value except markup that this module created. Only this module converts external
// text to markup.
import { escapeSourceLine, toSingleLineText } from '../report/escape.ts'

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
