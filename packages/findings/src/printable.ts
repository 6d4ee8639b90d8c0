// Makes text from a catalog safe for a terminal. Does not change text that is printed as is.

/**
 * Escapes control characters (which terminals interpret), bidirectional overrides (which reorder text), and lone surrogates as
 * `\u{...}`. Also escapes line breaks and tabs, so that the text remains on one line.
 */
export function escapeNonPrintableCharacters(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
