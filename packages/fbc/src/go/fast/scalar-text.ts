// Decodes the text of scalars that the fast reader found and verified: no invalid UTF-8, unknown escapes, tabs or odd
// line ends.
import { characterByEscapeLetter } from '../yaml/letter-escapes.ts'
import { TextBuilder } from '../text-builder.ts'
import { BACKSLASH, DASH, NEWLINE, PLUS, SPACE } from './byte-classes.ts'

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const codeUnitByEscapeLetter = new Uint16Array(128)
for (const [letter, meaning] of Object.entries(characterByEscapeLetter))
  codeUnitByEscapeLetter[letter.charCodeAt(0)] = meaning.charCodeAt(0)

const scalarTextBuilder = new TextBuilder()

export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  return utf8Decoder.decode(bytes.subarray(start, end))
}

/** Joins the lines of a plain scalar without empty lines. */
export function foldPlainScalar(text: string): string {
  return text.replace(/\n */g, ' ')
}

export function decodeSingleQuotedScalar(text: string): string {
  return foldScalarLines(text).replaceAll("''", "'")
}

export function decodeDoubleQuotedScalar(text: string): string {
  if (!text.includes('\\')) return foldScalarLines(text)
  const hasLines = text.includes('\n')
  scalarTextBuilder.clear()
  // Keeps spaces before an escaped line end, because the escape ends the line.
  const addPlain = (start: number, end: number): void => {
    if (hasLines) scalarTextBuilder.add(foldScalarLines(text.slice(start, end)))
    else scalarTextBuilder.add(text, start, end)
  }
  let plainStart = 0
  let at = 0
  for (;;) {
    while (at < text.length && text.charCodeAt(at) !== BACKSLASH) at++
    addPlain(plainStart, at)
    if (at >= text.length) return scalarTextBuilder.take()
    const code = text.charCodeAt(at + 1)
    if (code === NEWLINE) {
      plainStart = at + 2
      for (; text.charCodeAt(plainStart) === NEWLINE; plainStart++) scalarTextBuilder.addUnit(NEWLINE)
      while (text.charCodeAt(plainStart) === SPACE) plainStart++
    } else if (code === 0x78 || code === 0x75 || code === 0x55) {
      const digits = code === 0x78 ? 2 : code === 0x75 ? 4 : 8
      scalarTextBuilder.add(String.fromCodePoint(parseInt(text.slice(at + 2, at + 2 + digits), 16)))
      plainStart = at + 2 + digits
    } else {
      scalarTextBuilder.addUnit(codeUnitByEscapeLetter[code] as number)
      plainStart = at + 2
    }
    at = plainStart
  }
}

/** Replaces one line end with a space, drops one of several, and removes leading spaces. */
function foldScalarLines(text: string): string {
  if (!text.includes('\n')) return text
  return text.replace(/\n+ */g, (breaks) => '\n'.repeat(countLineFeeds(breaks) - 1) || ' ')
}

function countLineFeeds(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/**
 * Decodes a literal block from its `|` to the end of its last line, each line indented by `indent` spaces. Chomping:
 * `-` drops the last line end, `+` keeps all, default keeps one.
 */
export function decodeLiteralBlock(bytes: Uint8Array, start: number, end: number, indent: number): string {
  const headerEnd = bytes.indexOf(NEWLINE, start)
  const header = bytes.subarray(start + 1, headerEnd)
  // With its line end before it, every line is the same to the pattern.
  const lines = decodeUtf8(bytes, headerEnd, end)
  const text = lines.replace(new RegExp(`\\n {0,${indent}}`, 'g'), '\n').slice(1)
  if (header.includes(PLUS)) return text
  let last = text.length
  while (last > 0 && text.charCodeAt(last - 1) === NEWLINE) last--
  return header.includes(DASH) ? text.slice(0, last) : `${text.slice(0, last)}\n`
}
