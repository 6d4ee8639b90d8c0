// Text as opm (a Go program) writes and orders it, where our messages must be its messages. Knows no catalog.
import { isPrintable } from './printable.ts'

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

const plain = /^[ !#-[\]-~]*$/

/** opm would print a name of fifty megabytes, several times; here a megabyte is enough to say what is wrong. */
const longestQuoted = 1 << 20

/** Go's `%q` of a string: double quotes, and escapes for all that is not printable. A lone surrogate is U+FFFD. */
export function quote(text: string): string {
  if (text.length > longestQuoted)
    return `${quote(text.slice(0, longestQuoted).toWellFormed()).slice(0, -1)}…"`
  if (plain.test(text)) return `"${text}"`
  let quoted = '"'
  for (const character of text.toWellFormed()) quoted += escapeCharacter(character)
  return `${quoted}"`
}

function escapeCharacter(character: string): string {
  const named = escapes[character]
  if (named !== undefined) return named
  const point = character.codePointAt(0) ?? 0
  if (isPrintable(point)) return character
  if (point < 0x20 || point === 0x7f) return `\\x${hex(point, 2)}`
  return point < 0x10000 ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}

/**
 * Orders strings as Go does: by the bytes of their UTF-8, which is the order of code points. Differs from
 * JavaScript's own order only between U+E000..U+FFFF and what lies beyond U+FFFF.
 */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return codePointRank(left) - codePointRank(right)
  }
  return a.length - b.length
}

/** Moves surrogates (which stand for code points beyond U+FFFF) behind all other code units. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** A copy in Go's order. */
export function sortedByBytes(texts: Iterable<string>): string[] {
  return [...texts].sort(compareBytes)
}

const outerSpace =
  /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g

/** Go's strings.TrimSpace. JavaScript's trim() would also take a byte order mark, and leave U+0085. */
export function trimSpace(text: string): string {
  return text.replace(outerSpace, '')
}

/**
 * Go's strings.ToLower. JavaScript's own looks at a letter's neighbours, gives some letters two for one, and knows
 * capitals that are younger than Go's tables.
 */
export function lowerCase(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let lower = ''
  for (const character of text) {
    if (character === 'İ') lower += 'i'
    else lower += isPrintable(character.codePointAt(0) ?? 0) ? character.toLowerCase() : character
  }
  return lower
}
