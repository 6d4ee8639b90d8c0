// Markdown of the reference pages.

export function renderTable(
  header: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const toRow = (cells: readonly (string | undefined)[]) =>
    `| ${cells.map((cell = '') => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [toRow(header), toRow(header.map(() => '---')), ...rows.map(toRow)].join('\n')
}

/** Breaks lines at spaces outside code, and indents all but the first. */
export function wrapLines(text: string, indentation = ''): string {
  const lines: string[] = []
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < 118) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(lines.length === 0 ? word : `${indentation}${word}`)
  }
  return lines.join('\n')
}

export const formatInlineCode = (text: string): string => `\`${text}\``
