// Formats text for people: safely for a terminal, in columns, and with times.

/** Formats milliseconds since the epoch as `2026-11-22T10:00:00.000Z`. Does not read a clock. */
// oxlint-disable-next-line no-restricted-globals
export const formatIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** `2026-11-22 10:00 UTC`. */
export const formatUtcMinute = (milliseconds: number): string =>
  `${formatIsoTime(milliseconds).slice(0, 16).replace('T', ' ')} UTC`

/** Marks text of more than `maxLength` UTF-16 units as cut. */
export const truncateText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`

/** `a; b; and 3 more`. */
export function formatTruncatedClauses(clauses: readonly string[], maxClauses: number): string {
  const more = clauses.length - maxClauses
  return [...clauses.slice(0, maxClauses), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

export const formatCountWithNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`

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

export const escapeNonPrintableLines = (text: string): string =>
  text.split('\n').map(escapeNonPrintableCharacters).join('\n')

/** Escapes the same characters in JSON, in which they change no value. Some readers end a line at U+0085 or U+2028. */
export function escapeNonPrintableJsonCharacters(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// Formats rows as a text table, as Go's tabwriter does for opm: each column is as wide as its longest cell, plus two spaces.

/** The result ends with a line break. Cells must not contain line breaks. */
export function formatTextTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, at) =>
    all.reduce((widest, row) => Math.max(widest, [...(row[at] ?? '')].length), 0),
  )
  return all
    .map((row) =>
      row
        .map((cell, at) =>
          at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) + 2 - [...cell].length),
        )
        .join(''),
    )
    .map((line) => `${line}\n`)
    .join('')
}
