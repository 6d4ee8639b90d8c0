// JSON laid out as opm shows it in an error, with ` <== ` where the trouble is.

const marker = ' <== '

/** `text`, indented by four, marked behind its first `offset` characters (white space is not counted). */
export function markedJson(text: string, offset: number): string {
  let remaining = significantLength(text, offset)
  const pieces: string[] = []
  let depth = 0
  const newLine = (): string => `\n${'    '.repeat(depth)}`
  const write = (piece: string): void => {
    if (remaining > 0 && piece.length >= remaining) {
      pieces.push(piece.slice(0, remaining), marker, piece.slice(remaining))
      remaining = 0
      return
    }
    remaining -= piece.length
    pieces.push(piece)
  }
  let opened = false
  for (const token of tokensOf(text)) {
    const closes = token === ']' || token === '}'
    if (closes) {
      depth--
      if (!opened) pieces.push(newLine())
    } else if (opened) pieces.push(newLine())
    opened = token === '[' || token === '{'
    if (opened) depth++
    write(token)
    if (token === ',') pieces.push(newLine())
    if (token === ':') pieces.push(' ')
  }
  return pieces.join('').trimEnd()
}

function* tokensOf(text: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match[0]
}

/** How many of the first `offset` characters are not white space between tokens. */
function significantLength(text: string, offset: number): number {
  let length = 0
  for (const token of tokensOf(text.slice(0, offset))) length += token.length
  return Math.max(length, 1)
}
