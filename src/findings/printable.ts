// Text from a catalog, made safe for a terminal. Never changes text that prints as it reads.

/**
 * Control characters (a terminal obeys them), bidirectional overrides (they reorder what is read) and lone
 * surrogates become `\u{...}`; line breaks and tabs too, so that one text stays on one line.
 */
export function toPrintable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
