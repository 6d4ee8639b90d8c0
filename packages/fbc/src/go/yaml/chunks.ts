// Splits a YAML stream into documents by line, before parsing, like Kubernetes' stream decoder.
import { trimSpaceLikeGo } from '../text.ts'

export interface YamlChunk {
  readonly start: number
  readonly end: number
  /** Zero-based. */
  readonly line: number
  /** A separator with text after it, at which opm stops without reading the chunk. */
  readonly badSeparator: { readonly text: string; readonly start: number; readonly line: number } | undefined
}

const LF = 0x0a
const DASH = 0x2d
const leadingSpacesPattern = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

export function trimLeadingSpace(text: string): string {
  return text.replace(leadingSpacesPattern, '')
}

interface LineCounter {
  linesBefore(end: number): number
}

/**
 * Yields the chunks from byte `from` on; `line` is its line, from 0. `pass` may find a chunk's end in another way: its
 * `end` is the line of the next separator or the end of the file.
 */
export function* splitYamlChunks(
  bytes: Uint8Array,
  from: number,
  line: number,
  decode: (bytes: Uint8Array) => string,
  pass?: (start: number) => { end: number; lines: LineCounter } | undefined,
): Generator<YamlChunk> {
  let start = from
  let startLine = line
  let isEmpty = true
  for (let at = from; at < bytes.length; line++) {
    const passed = at === start ? pass?.(at) : undefined
    if (passed) {
      line += passed.lines.linesBefore(passed.end)
      at = passed.end
      isEmpty = false
      if (at >= bytes.length) break
    }
    if (bytes[at] === LF) {
      isEmpty = false
      // A file can consist of empty lines only. The loop counts the last of them.
      for (at++; bytes[at] === LF; at++) line++
      continue
    }
    const next = findNextLineStart(bytes, at)
    if (bytes[at] === DASH && bytes[at + 1] === DASH && bytes[at + 2] === DASH) {
      const rest = trimSpaceLikeGo(decode(bytes.subarray(at + 3, next)))
      if (rest !== '' && !rest.startsWith('#')) {
        yield { start, end: at, line: startLine, badSeparator: { text: rest, start: at, line } }
        isEmpty = true
      } else if (!isEmpty) {
        yield { start, end: at, line: startLine, badSeparator: undefined }
        isEmpty = true
      } else {
        // The separator becomes the first line of the document.
        isEmpty = false
        at = next
        continue
      }
      start = next
      startLine = line + 1
    } else isEmpty = false
    at = next
  }
  if (!isEmpty) yield { start, end: bytes.length, line: startLine, badSeparator: undefined }
}

function findNextLineStart(bytes: Uint8Array, from: number): number {
  // Most lines are short, and a call to indexOf costs as much as checking several dozen bytes.
  const near = Math.min(from + 64, bytes.length)
  for (let at = from; at < near; at++) if (bytes[at] === LF) return at + 1
  const found = bytes.indexOf(LF, near)
  return found < 0 ? bytes.length : found + 1
}
