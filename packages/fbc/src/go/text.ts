// Sorts, quotes, and trims text, and changes its case, as Go does.
import { isPrintable } from './printable.ts'
import type { ListValue, MapValue, ParsedValue } from './tree.ts'

export interface ParsedValueFormatter {
  /** The parts of a list or map with the text between them. */
  readonly partsOf: (value: ListValue | MapValue) => Iterable<ParsedValue | string>
  readonly scalar: (value: Exclude<ParsedValue, ListValue | MapValue>) => string
}

/** Letters that fold differently from upper- and then lower-casing. */
const caseFoldExceptions: ReadonlyMap<string, string> = new Map([
  ['ı', 'ı'],
  ['ẞ', 'ss'],
  ['ſ', 's'],
])

// Text functions that behave like Go's, so that messages equal opm's.

const goEscapeByCharacter: Readonly<Record<string, string>> = {
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

const textWithoutEscapesPattern = /^[ !#-[\]-~]*$/

/** opm has no limit, but a message doesn't need more than a megabyte of a name. */
const maxGoQuotedTextLength = 1 << 20

/** Go's `%q`: double quotes, with unprintable characters escaped. A lone surrogate is U+FFFD. */
export function quoteLikeGo(text: string): string {
  if (text.length > maxGoQuotedTextLength)
    return `${quoteLikeGo(text.slice(0, maxGoQuotedTextLength).toWellFormed()).slice(0, -1)}…"`
  if (textWithoutEscapesPattern.test(text)) return `"${text}"`
  let quoted = '"'
  for (const character of text.toWellFormed()) quoted += escapeCharacterLikeGo(character)
  return `${quoted}"`
}

function escapeCharacterLikeGo(character: string): string {
  const named = goEscapeByCharacter[character]
  if (named !== undefined) return named
  const point = character.codePointAt(0) ?? 0
  if (isPrintable(point)) return character
  if (point < 0x20 || point === 0x7f) return `\\x${formatPaddedHex(point, 2)}`
  return point < 0x10000 ? `\\u${formatPaddedHex(point, 4)}` : `\\U${formatPaddedHex(point, 8)}`
}

function formatPaddedHex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}

/**
 * Go's order: by UTF-8 bytes, so by code points. Differs from JavaScript's only between U+E000..U+FFFF and code points
 * beyond U+FFFF.
 */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return getCodeUnitSortRank(left) - getCodeUnitSortRank(right)
  }
  return a.length - b.length
}

/** Sorts surrogates, which encode code points beyond U+FFFF, after all other code units. */
function getCodeUnitSortRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

export function sortByBytes(strings: Iterable<string>): string[] {
  return [...strings].sort(compareBytes)
}

const whitespaceCharacterPattern = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** Go's strings.TrimSpace. JavaScript's trim() also removes a byte order mark, but not U+0085. */
export function trimSpaceLikeGo(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && whitespaceCharacterPattern.test(text.charAt(start))) start += 1
  while (end > start && whitespaceCharacterPattern.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Go's strings.ToLower. JavaScript's version depends on context, expands some letters, and knows newer capitals. */
export function toLowerLikeGo(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let lower = ''
  for (const character of text) {
    if (character === 'İ') lower += 'i'
    else lower += isPrintable(character.codePointAt(0) ?? 0) ? character.toLowerCase() : character
  }
  return lower
}

// Unicode full case folding as in golang.org/x/text, because opm treats keys that fold alike as equal.
export function foldCase(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacterCase(character)
  return folded
}

function foldCharacterCase(character: string): string {
  const known = caseFoldExceptions.get(character)
  if (known !== undefined) return known
  const point = character.codePointAt(0) ?? 0
  // Cherokee folds to upper case; x/text swaps the two cases, so they never match.
  if (isCherokeeLetter(point)) return swapCase(character)
  // opm's Unicode tables have no lower case for newer letters.
  if (!isPrintable(point)) return character
  const upper = character.toUpperCase()
  let folded = ''
  for (const one of upper) folded += one === 'İ' ? 'i̇' : one.toLowerCase()
  return folded
}

function isCherokeeLetter(point: number): boolean {
  return (point >= 0x13a0 && point <= 0x13fd) || (point >= 0xab70 && point <= 0xabbf)
}

function swapCase(character: string): string {
  const upper = character.toUpperCase()
  return upper === character ? character.toLowerCase() : upper
}

// Prints values up to a length limit without recursion, so that deep, wide or endlessly aliased values are safe.

/** Stops adding text after `limit` code units. */
export function formatTruncatedParsedValue(
  root: ParsedValue,
  { partsOf, scalar }: ParsedValueFormatter,
  limit: number,
): string {
  const pieces: string[] = []
  let length = 0
  const open: Iterator<ParsedValue | string>[] = [[root].values()]
  for (let top = open.at(-1); top && length < limit; top = open.at(-1)) {
    const next = top.next()
    if (next.done === true) {
      open.pop()
      continue
    }
    const part = next.value
    if (typeof part !== 'string' && (part.kind === 'list' || part.kind === 'map'))
      open.push(partsOf(part)[Symbol.iterator]())
    else {
      const text = typeof part === 'string' ? part : scalar(part)
      pieces.push(text)
      length += text.length
    }
  }
  return pieces.join('')
}

// The order in which opm walks a tree: Go's WalkDir, names of each directory by bytes, depth first.
export function comparePathsInWalkOrder(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  const shorter = Math.min(left.length, right.length)
  for (let at = 0; at < shorter; at++) {
    const order = compareBytes(left[at] as string, right[at] as string)
    if (order !== 0) return order
  }
  return left.length - right.length
}
