// Unicode full case folding as in golang.org/x/text, because opm treats keys that fold alike as equal.
import { isPrintable } from './printable.ts'

/** Letters that fold differently from upper- and then lower-casing. */
const caseFoldExceptions: ReadonlyMap<string, string> = new Map([
  ['ı', 'ı'],
  ['ẞ', 'ss'],
  ['ſ', 's'],
])

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
