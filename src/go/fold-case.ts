// Unicode full case folding, as golang.org/x/text does it: two keys that fold alike are the same key to opm.
import { isPrintable } from './printable.ts'

/** Letters whose folding is not what upper- and then lower-casing gives. */
const exceptions: ReadonlyMap<string, string> = new Map([
  // The dotless i stays itself.
  ['ı', 'ı'],
  ['ẞ', 'ss'],
  ['ſ', 's'],
])

/** The text with case differences removed. */
export function foldCase(text: string): string {
  // ASCII is nearly always all there is.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

function foldCharacter(character: string): string {
  const known = exceptions.get(character)
  if (known !== undefined) return known
  const point = character.codePointAt(0) ?? 0
  // Cherokee folds to upper case; x/text swaps the two cases, so that they never meet.
  if (isCherokee(point)) return swapCase(character)
  // To opm's tables a letter that came later has no small form.
  if (!isPrintable(point)) return character
  const upper = character.toUpperCase()
  let folded = ''
  for (const one of upper) folded += one === 'İ' ? 'i̇' : one.toLowerCase()
  return folded
}

function isCherokee(point: number): boolean {
  return (point >= 0x13a0 && point <= 0x13fd) || (point >= 0xab70 && point <= 0xabbf)
}

function swapCase(character: string): string {
  const upper = character.toUpperCase()
  return upper === character ? character.toLowerCase() : upper
}
