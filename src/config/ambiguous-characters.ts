// Characters that one reader takes for the end of a line, the end of the text, a space or nothing at all, and another
// for a letter. Lists of people that hold them can be read in two ways, so they are not read. Names what was found.

/**
 * What some readers end a line or the text at, or drop: control characters, a carriage return alone, Unicode's line
 * ends, a byte order mark, half surrogates, and what stands for bytes that are no UTF-8. Comments end there as well, so
 * such a character has no place in them either.
 */
const ambiguousBreakPattern = /(?![\t\n\r])\p{Cc}|\r(?!\n)|[\p{Zl}\p{Zp}\p{Cs}\ufeff\ufffd]/u

/** White space other than the space and the tab, and characters that show nothing. */
const invisiblePattern = /(?![ \t])[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u
const invisibleOrSpacePattern = /[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Where the text holds a character at which readers divide it differently; undefined where it holds none. */
export function findAmbiguousBreak(
  text: string,
): { readonly offset: number; readonly name: string } | undefined {
  const found = ambiguousBreakPattern.exec(text)
  return found ? { offset: found.index, name: describeCharacter(found[0]) } : undefined
}

/** The name of a character of the text that nobody sees, or that only some take for a space; undefined without one. */
export function findInvisible(text: string): string | undefined {
  const found = invisiblePattern.exec(text)
  return found ? describeCharacter(found[0]) : undefined
}

/** Equal for texts that a lenient reader may take for the same key: without regard to case, form, spaces and the unseen. */
export function foldKey(key: string): string {
  return key.normalize('NFKC').replace(invisibleOrSpacePattern, '').toLowerCase()
}

function describeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
