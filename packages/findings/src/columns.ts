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
