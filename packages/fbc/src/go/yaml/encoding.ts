// Decodes UTF-8, or UTF-16 with a byte order mark, like go-yaml's reader. Returns rejected bytes instead of throwing,
// because they only matter if the scanner reads that far.
import { decodeUtf8Strictly } from '../utf8.ts'
import type { YamlReaderProblem } from './cursor.ts'
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

interface LineCounter {
  linesBefore(end: number): number
}

export interface DecodedYamlText {
  readonly text: string
  readonly unreadable: YamlReaderProblem | undefined
}

/** go-yaml decodes blocks of this many bytes before the scanner continues. */
const yamlReadBlockBytes = 512

/** C0 but TAB, LF, CR; DEL; C1 but NEL; the two noncharacters of the first plane. */
const disallowedYamlCharacterPattern = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/

export function decodeYaml(bytes: Uint8Array): DecodedYamlText {
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return decodeYamlCharacters(bytes, 2, createUtf16Decoder(bytes, true))
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return decodeYamlCharacters(bytes, 2, createUtf16Decoder(bytes, false))
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const body = hasMark ? bytes.subarray(3) : bytes
  const text = decodeUtf8Strictly(body)
  if (text !== undefined && !disallowedYamlCharacterPattern.test(text)) return { text, unreadable: undefined }
  return decodeYamlCharacters(bytes, hasMark ? 3 : 0, createUtf8Decoder(bytes))
}

/** Decodes one character at a byte offset; `end` is the end of the available bytes. */
type CharacterDecoder = (
  at: number,
  end: number,
) => { point: number; width: number } | 'incomplete' | { problem: string }

/** Reads like go-yaml's reader, block by block, up to the first rejected character. */
function decodeYamlCharacters(bytes: Uint8Array, start: number, decode: CharacterDecoder): DecodedYamlText {
  let text = ''
  let at = start
  let end = Math.min(yamlReadBlockBytes, bytes.length)
  for (;;) {
    const from = text.length
    if (start !== 2) {
      // Fast path: nearly all blocks are valid and can be decoded whole.
      const whole = decodeUtf8Strictly(bytes.subarray(at, end))
      if (whole !== undefined && !disallowedYamlCharacterPattern.test(whole)) {
        text += whole
        at = end
      }
    }
    while (at < end) {
      const character = decode(at, end)
      if (character === 'incomplete') break
      const problem =
        'problem' in character ? character.problem : findControlCharacterProblem(character.point)
      if (problem !== undefined)
        return { text: `${text}\ufffd`, unreadable: { message: problem, from, at: text.length } }
      if ('point' in character) {
        text += String.fromCodePoint(character.point)
        at += character.width
      }
    }
    if (end >= bytes.length) {
      if (at >= end) return { text, unreadable: undefined }
      const message =
        start === 2 ? describeIncompleteUtf16(bytes.length - at) : 'incomplete UTF-8 octet sequence'
      return { text: `${text}\ufffd`, unreadable: { message, from: text.length, at: text.length } }
    }
    end = Math.min(at + yamlReadBlockBytes, bytes.length)
  }
}

function describeIncompleteUtf16(remainingBytes: number): string {
  return remainingBytes < 2 ? 'incomplete UTF-16 character' : 'incomplete UTF-16 surrogate pair'
}

function findControlCharacterProblem(point: number): string | undefined {
  const isRejected = point <= 0xffff && disallowedYamlCharacterPattern.test(String.fromCharCode(point))
  return isRejected ? 'control characters are not allowed' : undefined
}

function createUtf8Decoder(bytes: Uint8Array): CharacterDecoder {
  return (at, end) => {
    const first = bytes[at] as number
    const width =
      first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0
    if (width === 0) return { problem: 'invalid leading UTF-8 octet' }
    if (at + width > end) return 'incomplete'
    let point = width === 1 ? first : first & (0xff >> (width + 1))
    for (let more = 1; more < width; more++) {
      const octet = bytes[at + more] as number
      if ((octet & 0xc0) !== 0x80) return { problem: 'invalid trailing UTF-8 octet' }
      point = (point << 6) | (octet & 0x3f)
    }
    const shortest = [0, 0, 0x80, 0x800, 0x10000][width] as number
    if (point < shortest) return { problem: 'invalid length of a UTF-8 sequence' }
    if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff)
      return { problem: 'invalid Unicode character' }
    return { point, width }
  }
}

function createUtf16Decoder(bytes: Uint8Array, littleEndian: boolean): CharacterDecoder {
  const readUnit = (at: number): number => {
    const [low, high] = littleEndian ? [bytes[at], bytes[at + 1]] : [bytes[at + 1], bytes[at]]
    return ((high as number) << 8) | (low as number)
  }
  return (at, end) => {
    if (at + 2 > end) return 'incomplete'
    const first = readUnit(at)
    if ((first & 0xfc00) === 0xdc00) return { problem: 'unexpected low surrogate area' }
    if ((first & 0xfc00) !== 0xd800) return { point: first, width: 2 }
    if (at + 4 > end) return 'incomplete'
    const second = readUnit(at + 2)
    if ((second & 0xfc00) !== 0xdc00) return { problem: 'expected low surrogate area' }
    return { point: 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff), width: 4 }
  }
}

/** Normalizes line ends to line feeds, including one at the end. */
export function decodeYamlChunk(bytes: Uint8Array): DecodedYamlText {
  if (bytes[0] !== 0xff && bytes[0] !== 0xfe) {
    const text = decodeUtf8Strictly(bytes)
    if (text !== undefined && !text.startsWith('\ufeff')) {
      const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
      const whole = bytes[bytes.length - 1] === 0x0a ? lines : `${lines}\n`
      return disallowedYamlCharacterPattern.test(whole)
        ? decodeYaml(normalizeLineEndings(bytes))
        : { text: whole, unreadable: undefined }
    }
  }
  return decodeYaml(normalizeLineEndings(bytes))
}

function normalizeLineEndings(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length + 1)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) continue
    out[size++] = bytes[at] as number
  }
  if (bytes[bytes.length - 1] !== 0x0a) out[size++] = 0x0a
  return out.subarray(0, size)
}

// Splits a YAML stream into documents by line, before parsing, like Kubernetes' stream decoder.
export function trimLeadingSpace(text: string): string {
  return text.replace(leadingSpacesPattern, '')
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
  const found = bytes.indexOf(LF, from)
  return found < 0 ? bytes.length : found + 1
}
