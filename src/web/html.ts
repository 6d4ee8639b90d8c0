// HTML that cannot be made of others' text by accident: what is put into the template is escaped, unless it is HTML that was
// made here. The one place of the pages where text of others becomes markup.
import { oneLine } from '../messages/escape.ts'
import { escapeHtml } from './escape-html.ts'

/** Longer texts than this are no part of a page. */
const longestText = 10_000

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

/** Markup that was made by `markup`: told apart by a private field, so that nothing that came from JSON is one. */
export type Html = Markup

type Part = Html | string | number | false | undefined | readonly Part[]

/** Text and numbers are escaped; nothing comes of `false` and `undefined`; lists are joined. Attributes stand in `"`. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = fixed[0] ?? ''
  for (const [at, part] of parts.entries()) text += textOf(part) + (fixed[at + 1] ?? '')
  return new Markup(text)
}

export const nothing: Html = new Markup('')

/** A picture from draw-svg.ts, which escapes what is in it. Screen readers take it for one image with its title. */
export function picture(svg: string): Html {
  return new Markup(svg.replace('<svg ', '<svg role="img" '))
}

/** Text whose lines and spaces count, for `<pre>`. */
export function preformatted(text: string): Html {
  return new Markup(escapeHtml(text))
}

export function render(markup: Html): string {
  return Markup.textOf(markup)
}

/** Anything but plain ASCII on one line without marks of HTML; runs of spaces; and what is too long. */
const needsCare = /[^ !#-%(-;=?-~]| {2}|^.{10000}/

function textOf(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'number') return String(part)
  // Nearly all text is plain, and a long page has thousands of it.
  if (typeof part === 'string' && !needsCare.test(part)) return part
  // Invisible and turning characters are shown as what they are: a mark.
  if (typeof part === 'string')
    return `${/^\s/.test(part) ? ' ' : ''}${escapeHtml(oneLine(part, longestText))}${/\S\s$/.test(part) ? ' ' : ''}`
  if (Markup.is(part)) return Markup.textOf(part)
  return part.map(textOf).join('')
}
