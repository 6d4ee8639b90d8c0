// Reads one JSON value with positions like Go's streaming decoder, with the same errors. Uses its own stack, so nesting
// cannot overflow the call stack.
import type { ParsedValue } from '../tree.ts'
import { MapBuilder, trimArraySpareCapacity } from '../tree.ts'
import { JsonError } from './json-error.ts'
import { scanJsonNumber, scanJsonString } from './json-scalars.ts'

/** Go's limit. */
const maxJsonDepth = 10_000

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

export function skipJsonSpace(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  return at
}

/** Throws a JsonError. */
export function readJson(text: string, from: number): ReadJsonResult {
  const frames: JsonParserFrame[] = []
  let hugeNumber: ReadJsonResult['hugeNumber']
  let at = skipJsonSpace(text, from)
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
      at = skipJsonSpace(text, at + 1)
      if (frame.map) {
        if (text.charCodeAt(at) !== 0x7d) {
          at = readJsonObjectKey(text, at, frame)
          continue
        }
      } else if (text.charCodeAt(at) !== 0x5d) continue
      value = closeJsonParserFrame(frames, ++at)
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
      at = skipJsonSpace(text, at)
      const next = text.charCodeAt(at)
      if (next === 0x2c) {
        at = skipJsonSpace(text, at + 1)
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
      value = closeJsonParserFrame(frames, ++at)
    }
  }
}

/** Reads `"key":` and the whitespace after it. */
function readJsonObjectKey(text: string, from: number, frame: JsonParserFrame): number {
  if (text.charCodeAt(from) !== 0x22)
    throw createUnexpectedCharacterError(text, from, 'looking for beginning of object key string')
  const { value, end } = scanJsonString(text, from)
  frame.key = { text: value, start: from, end }
  const at = skipJsonSpace(text, end)
  if (text.charCodeAt(at) !== 0x3a) throw createUnexpectedCharacterError(text, at, 'after object key')
  return skipJsonSpace(text, at + 1)
}

function closeJsonParserFrame(frames: JsonParserFrame[], end: number): ParsedValue {
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
