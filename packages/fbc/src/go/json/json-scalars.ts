// Strings and numbers of JSON, as Go's encoding/json reads them.
import { getHexDigitValue, isDigit } from '../yaml/characters.ts'
import { TextBuilder } from '../text-builder.ts'
import { JsonError } from './json-error.ts'

/** Code units of one-letter escapes by letter; -1 for others. */
const codeUnitByEscapeLetter = new Int32Array(128).fill(-1)
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) => [
  ...pair,
]))
  codeUnitByEscapeLetter[letter?.charCodeAt(0) ?? 0] = meaning?.charCodeAt(0) ?? -1

const jsonStringBuilder = new TextBuilder()

/** Reads a string from its opening quote. Lone surrogates become U+FFFD. */
export function scanJsonString(text: string, from: number): { value: string; end: number } {
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
    const meaning = letter < 128 ? (codeUnitByEscapeLetter[letter] as number) : -1
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

export function scanJsonNumber(text: string, from: number): number {
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

function createUnexpectedCharacterError(text: string, at: number, context: string): JsonError {
  if (at >= text.length) return new JsonError('end', 'unexpected EOF', at)
  return new JsonError('syntax', context, at)
}
