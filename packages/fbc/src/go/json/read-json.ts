// Reads one JSON value with positions, and reports the errors that Go's streaming decoder reports. Uses its own stack,
// so nesting cannot overflow the call stack.
import { type ParsedValue, MapBuilder, trimArraySpareCapacity } from '../tree.ts'
import { createEscapeTable, getHexDigitValue, isDigit } from '../yaml/cursor.ts'
import { TextBuilder } from '../utf8.ts'

const codeUnitByJsonEscapeLetter = createEscapeTable({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})

const jsonStringBuilder = new TextBuilder()
const jsonErrorMarker = ' <== '

/** Limits indentation: ten thousand levels would take a hundred megabytes. */
const maxJsonLengthWithErrorMarker = 1 << 23

/** Thrown only inside the JSON reader, in the words of Go's encoding/json. */
export class JsonError extends Error {
  /** `end`: the text ended inside a value. */
  readonly kind: 'syntax' | 'end'
  /** Index of the offending character in the text. */
  readonly at: number

  constructor(kind: 'syntax' | 'end', message: string, at: number) {
    super(message)
    this.name = 'JsonError'
    this.kind = kind
    this.at = at
  }
}

/** Go's limit. */
export const maxJsonDepth = 10_000

interface JsonParserFrame {
  readonly start: number
  readonly map: MapBuilder | undefined
  readonly items: ParsedValue[]
  key: { readonly text: string; readonly start: number; readonly end: number } | undefined
}

export interface ReadJsonResult {
  readonly value: ParsedValue
  readonly end: number
  /** The first number beyond float64: Go reads on, then rejects the whole value. */
  readonly hugeNumber: { readonly text: string; readonly end: number } | undefined
}

export function skipJsonWhitespace(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  return at
}

/** Undefined if the text does not start with JSON. */
export function tryReadJson(text: string): ReadJsonResult | undefined {
  try {
    return readJson(text, 0)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

/** Throws a JsonError. */
export function readJson(text: string, from: number): ReadJsonResult {
  const frames: JsonParserFrame[] = []
  let hugeNumber: ReadJsonResult['hugeNumber']
  let at = skipJsonWhitespace(text, from)
  for (;;) {
    let value: ParsedValue | undefined
    const start = at
    const c = text.charCodeAt(at)
    if (c === 0x7b || c === 0x5b) {
      const frame: JsonParserFrame = {
        start,
        map: c === 0x7b ? new MapBuilder() : undefined,
        items: [],
        key: undefined,
      }
      frames.push(frame)
      if (frames.length > maxJsonDepth) throw createUnexpectedCharacterError(text, at, 'exceeded max depth')
      at = skipJsonWhitespace(text, at + 1)
      if (frame.map) {
        if (text.charCodeAt(at) !== 0x7d) {
          at = readJsonObjectKey(text, at, frame)
          continue
        }
      } else if (text.charCodeAt(at) !== 0x5d) continue
      value = popJsonParserFrame(frames, ++at)
    } else if (c === 0x22) {
      const scanned = scanJsonString(text, at)
      at = scanned.end
      value = { kind: 'string', start, end: at, value: scanned.value, quoted: true }
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      at = scanJsonNumber(text, at)
      const digits = text.slice(start, at)
      const number = Number(digits)
      if (!Number.isFinite(number)) hugeNumber ??= { text: digits, end: at }
      value = { kind: 'number', start, end: at, value: number, text: digits }
    } else {
      const word = c === 0x74 ? 'true' : c === 0x66 ? 'false' : c === 0x6e ? 'null' : undefined
      if (word === undefined) throw createUnexpectedCharacterError(text, at, 'looking for beginning of value')
      at = scanJsonLiteral(text, at, word)
      value =
        word === 'null'
          ? { kind: 'null', start, end: at }
          : { kind: 'bool', start, end: at, value: word === 'true' }
    }

    // The value ended: add it to its container, which may end too.
    for (;;) {
      const frame = frames[frames.length - 1]
      if (!frame) return { value, end: at, hugeNumber }
      if (frame.key) frame.map?.set(frame.key.text, frame.key.start, frame.key.end, value)
      else frame.items.push(value)
      at = skipJsonWhitespace(text, at)
      const next = text.charCodeAt(at)
      if (next === 0x2c) {
        at = skipJsonWhitespace(text, at + 1)
        if (frame.map) at = readJsonObjectKey(text, at, frame)
        break
      }
      if (next !== (frame.map ? 0x7d : 0x5d)) {
        throw createUnexpectedCharacterError(
          text,
          at,
          frame.map ? 'after object key:value pair' : 'after array element',
        )
      }
      value = popJsonParserFrame(frames, ++at)
    }
  }
}

/** Reads `"key":` and the whitespace after it. */
function readJsonObjectKey(text: string, from: number, frame: JsonParserFrame): number {
  if (text.charCodeAt(from) !== 0x22)
    throw createUnexpectedCharacterError(text, from, 'looking for beginning of object key string')
  const { value, end } = scanJsonString(text, from)
  frame.key = { text: value, start: from, end }
  const at = skipJsonWhitespace(text, end)
  if (text.charCodeAt(at) !== 0x3a) throw createUnexpectedCharacterError(text, at, 'after object key')
  return skipJsonWhitespace(text, at + 1)
}

function popJsonParserFrame(frames: JsonParserFrame[], end: number): ParsedValue {
  const { start, map, items } = frames.pop() as JsonParserFrame
  return map ? map.build(start, end) : { kind: 'list', start, end, items: trimArraySpareCapacity(items) }
}

function scanJsonLiteral(text: string, from: number, word: string): number {
  for (let offset = 1; offset < word.length; offset++) {
    if (text[from + offset] !== word[offset]) {
      throw createUnexpectedCharacterError(
        text,
        from + offset,
        `in literal ${word} (expecting '${word[offset]}')`,
      )
    }
  }
  return from + word.length
}

function createUnexpectedCharacterError(text: string, at: number, context: string): JsonError {
  if (at >= text.length) return new JsonError('end', 'unexpected EOF', at)
  return new JsonError('syntax', context, at)
}

// Formats JSON for an opm error, with ` <== ` at the error.

/**
 * Indents `text` by four and marks the place after its first `offset` characters. Returns undefined where opm cannot
 * find the place: it searches for each character in turn, even whitespace that indenting removed.
 */
export function markJsonErrorPosition(text: string, offset: number): string | undefined {
  const pretty = indentJson(text)
  if (pretty === undefined) return undefined
  if (offset >= text.length) return pretty + jsonErrorMarker.trimEnd()
  let at = 0
  for (let index = 0; index < offset; index++) {
    const found = pretty.indexOf(text.charAt(index), at)
    if (found < 0) return undefined
    at = found + 1
  }
  return pretty.slice(0, at) + jsonErrorMarker + pretty.slice(at)
}

/** opm's full message: the error, and its place if found. `offset` is in bytes. */
export function formatJsonErrorWithMarker(
  detail: string,
  offset: number,
  marked: string | undefined,
): string {
  return marked === undefined ? detail : `${detail} at offset ${offset} (indicated by <==)\n${marked}`
}

function indentJson(text: string): string | undefined {
  const pieces: string[] = []
  let depth = 0
  const newLine = (): string => `\n${'    '.repeat(depth)}`
  let length = 0
  let opened = false
  for (const token of tokenizeJson(text)) {
    const closes = token === ']' || token === '}'
    if (closes) {
      depth--
      if (!opened) pieces.push(newLine())
    } else if (opened) pieces.push(newLine())
    opened = token === '[' || token === '{'
    if (opened) depth++
    pieces.push(token)
    length += token.length + 4 * depth
    if (length > maxJsonLengthWithErrorMarker) return undefined
    if (token === ',') pieces.push(newLine())
    if (token === ':') pieces.push(' ')
  }
  return pieces.join('')
}

function* tokenizeJson(text: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match[0]
}

/** Reads a string from its opening quote. Lone surrogates become U+FFFD. */
function scanJsonString(text: string, from: number): { value: string; end: number } {
  let at = from + 1
  let pieceStart = at
  jsonStringBuilder.clear()
  for (;;) {
    const c = text.charCodeAt(at)
    if (c === 0x22) break
    // Past the end, NaN is not below 0x20 either.
    if (c < 0x20) throw createUnexpectedCharacterError(text, at, 'in string literal')
    if (c !== 0x5c) {
      if (at >= text.length) throw createUnexpectedCharacterError(text, at, '')
      at++
      continue
    }
    jsonStringBuilder.add(text, pieceStart, at)
    const letter = text.charCodeAt(at + 1)
    const meaning = letter < 128 ? (codeUnitByJsonEscapeLetter[letter] as number) : -1
    if (meaning >= 0) {
      jsonStringBuilder.addUnit(meaning)
      at += 2
    } else if (letter === 0x75) {
      jsonStringBuilder.addUnit(scanJsonHexEscape(text, at + 2))
      at += 6
    } else throw createUnexpectedCharacterError(text, at + 1, 'in string escape code')
    pieceStart = at
  }
  if (jsonStringBuilder.isEmpty) return { value: text.slice(pieceStart, at), end: at + 1 }
  jsonStringBuilder.add(text, pieceStart, at)
  return { value: jsonStringBuilder.take().toWellFormed(), end: at + 1 }
}

function scanJsonHexEscape(text: string, from: number): number {
  let unit = 0
  for (let at = from; at < from + 4; at++) {
    const digit = at < text.length ? getHexDigitValue(text.charCodeAt(at)) : -1
    if (digit < 0) throw createUnexpectedCharacterError(text, at, 'in \\u hexadecimal character escape')
    unit = unit * 16 + digit
  }
  return unit
}

function scanJsonNumber(text: string, from: number): number {
  let at = from
  const isAtDigit = (): boolean => at < text.length && isDigit(text.charCodeAt(at))
  const skipDigits = (context: string): void => {
    if (!isAtDigit()) throw createUnexpectedCharacterError(text, at, context)
    while (isAtDigit()) at++
  }
  if (text.charCodeAt(at) === 0x2d) at++
  if (text.charCodeAt(at) === 0x30) at++
  else skipDigits('in numeric literal')
  if (text.charCodeAt(at) === 0x2e) {
    at++
    skipDigits('after decimal point in numeric literal')
  }
  if ((text.charCodeAt(at) | 0x20) === 0x65) {
    at++
    if (text.charCodeAt(at) === 0x2b || text.charCodeAt(at) === 0x2d) at++
    skipDigits('in exponent of numeric literal')
  }
  return at
}
