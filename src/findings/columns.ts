// Rows as a table of text, as Go's tabwriter makes it for opm: columns as wide as their longest cell, two blanks between.

/** Ends in a line break. A cell must not have one. */
export function formatColumns(headings: readonly string[], rows: readonly (readonly string[])[]): string {
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
