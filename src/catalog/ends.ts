// Where the things end that findings point at. Facts keep only where a blob, an entry or an image begins; its end on
// that line is read from the file when a finding is reported, so a catalog without findings pays nothing.
import type { Finding, Location } from '../findings/finding.ts'
import { characterWidth, decodeLikeGo } from './utf8.ts'

/** Bytes of a line that are looked at for an end: a longer thing ends there. */
const widest = 4096

/**
 * The findings, in their order, each place with an end behind its beginning on the same line: of the quoted text, the
 * bracket or the plain value that begins there; where the place does not exist, the end is the beginning. `bytesOf` is
 * asked once per file. Findings in files without bytes, with an end, or without a place stay as they are.
 */
export function withEnds(
  findings: readonly Finding[],
  bytesOf: (file: string) => Uint8Array | undefined,
): Finding[] {
  const byFile = new Map<string, Location[]>()
  for (const { at } of findings)
    if (at && at.endLine === undefined) {
      const known = byFile.get(at.file)
      if (known) known.push(at)
      else byFile.set(at.file, [at])
    }
  const ends = new Map<Location, number>()
  for (const [file, places] of byFile) {
    const bytes = bytesOf(file)
    if (bytes === undefined) continue
    const reader = new ForwardReader(isUtf16(bytes) ? new Uint8Array() : bytes)
    for (const at of places.sort((a, b) => a.line - b.line || a.column - b.column)) {
      const rest = reader.restOfLine(at)
      ends.set(at, at.column + (rest === undefined ? 0 : lengthOf(rest.text, rest.before)))
    }
  }
  return findings.map((finding) => {
    const { at } = finding
    const endColumn = at && ends.get(at)
    return at && endColumn !== undefined
      ? { ...finding, at: { ...at, endLine: at.line, endColumn } }
      : finding
  })
}

/** Such files have other line ends between their bytes. */
function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

/** Goes through a file once, for places in ascending order: also for a file of one long line. */
class ForwardReader {
  private readonly bytes: Uint8Array
  private line = 1
  private lineStart = 0
  private lineEnd: number
  private column = 1
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.lineEnd = this.endFrom(0)
  }

  private endFrom(start: number): number {
    const end = this.bytes.indexOf(0x0a, start)
    return end < 0 ? this.bytes.length : end
  }

  /** The text from a place to the end of its line, and the character before it that is no blank; undefined past the end. */
  restOfLine({ line, column }: Location): { text: string; before: string } | undefined {
    const { bytes } = this
    while (this.line < line) {
      if (this.lineEnd === bytes.length) return undefined
      this.line++
      this.lineStart = this.at = this.lineEnd + 1
      this.lineEnd = this.endFrom(this.at)
      this.column = 1
    }
    while (this.column < column) {
      if (this.at >= this.lineEnd) return undefined
      const width = characterWidth(bytes, this.at)
      this.at += Math.max(1, width)
      this.column += width === 4 ? 2 : 1
    }
    const stop = Math.min(this.lineEnd, this.at + widest)
    let before = this.at - 1
    while (before >= this.lineStart && bytes[before] === 0x20) before--
    return {
      text: decodeLikeGo(bytes.subarray(this.at, stop)),
      before: before < this.lineStart ? '' : String.fromCharCode(bytes[before] as number),
    }
  }
}

function lengthOf(text: string, before: string): number {
  const whole = text.trimEnd().length
  const [first = ''] = text
  if (first === '"' || first === "'") return endOfQuoted(text, 0) ?? whole
  if (first === '{' || first === '[') return endOfBracket(text) ?? whole
  // Inside of brackets, commas and brackets end a plain value; elsewhere they belong to it.
  const end = '{[,'.includes(before) && before !== '' ? /[,\]}]|:\s|\s#/ : /\s#/
  const found = end.exec(text)?.index
  return found === undefined ? whole : text.slice(0, found).trimEnd().length
}

/** Behind the closing quote of the text that begins at `start`; undefined where it does not end here. */
function endOfQuoted(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === quote) at++
      else return at + 1
    }
  }
  return undefined
}

function endOfBracket(text: string): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfQuoted(text, at)
      if (end === undefined) return undefined
      at = end - 1
    } else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}
