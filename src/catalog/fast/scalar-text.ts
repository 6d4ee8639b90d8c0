// The text of scalars whose extent the fast reader has found: folding, quotes and escapes undone, on demand.
// Takes only what it verified before: well-formed UTF-8, known escapes, no tabs, no odd line ends.
import { DASH, NEWLINE, PLUS } from './byte-classes.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
}

export function decode(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end))
}

/** A plain scalar of several lines without empty ones: joined by single blanks. */
export function foldedPlain(text: string): string {
  return text.replace(/\n */g, ' ')
}

/** What stands between single quotes. */
export function singleQuoted(text: string): string {
  return foldLines(text).replaceAll("''", "'")
}

/** What stands between double quotes. */
export function doubleQuoted(text: string): string {
  if (!text.includes('\\')) return foldLines(text)
  const pieces: string[] = []
  let plainStart = 0
  let at = text.indexOf('\\')
  while (at >= 0) {
    // Blanks before an escaped line end are kept, since the escape is what ends the line.
    pieces.push(foldLines(text.slice(plainStart, at)))
    const code = text.charAt(at + 1)
    if (code === '\n') {
      plainStart = at + 1
      while (text.charAt(plainStart) === '\n') plainStart++
      pieces.push('\n'.repeat(plainStart - at - 2))
      while (text.charAt(plainStart) === ' ') plainStart++
    } else if (code === 'x' || code === 'u' || code === 'U') {
      const digits = code === 'x' ? 2 : code === 'u' ? 4 : 8
      pieces.push(String.fromCodePoint(parseInt(text.slice(at + 2, at + 2 + digits), 16)))
      plainStart = at + 2 + digits
    } else {
      pieces.push(escapes[code] ?? '')
      plainStart = at + 2
    }
    at = text.indexOf('\\', plainStart)
  }
  pieces.push(foldLines(text.slice(plainStart)))
  return pieces.join('')
}

/** A line end becomes a blank, of several all but the first stay; blanks at the start of lines go. */
function foldLines(text: string): string {
  if (!text.includes('\n')) return text
  return text.replace(/\n+ */g, (breaks) => '\n'.repeat(countLines(breaks) - 1) || ' ')
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/**
 * A literal block scalar from its `|` to the end of its last line; `indent` is how many blanks each line has in front.
 * Chomping: `-` drops the last line end, `+` keeps all, others keep one.
 */
export function literal(bytes: Uint8Array, start: number, end: number, indent: number): string {
  const headerEnd = bytes.indexOf(NEWLINE, start)
  const header = bytes.subarray(start + 1, headerEnd)
  // With its line end before it, every line is the same to the pattern.
  const lines = decode(bytes, headerEnd, end)
  const text = lines.replace(new RegExp(`\\n {0,${indent}}`, 'g'), '\n').slice(1)
  if (header.includes(PLUS)) return text
  let last = text.length
  while (last > 0 && text.charCodeAt(last - 1) === NEWLINE) last--
  return header.includes(DASH) ? text.slice(0, last) : `${text.slice(0, last)}\n`
}
