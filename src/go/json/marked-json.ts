// JSON laid out as opm shows it in an error, with ` <== ` where the trouble is.

const marker = ' <== '

/** Ten thousand levels are a hundred megabytes of indentation, in which nobody finds the mark. */
const longest = 1 << 23

/**
 * `text`, indented by four, marked behind its first `offset` characters. Undefined where opm does not find that place
 * again and says nothing of it: it looks for each character of the text in turn, white space too, which may be gone.
 */
export function markedJson(text: string, offset: number): string | undefined {
  const pretty = indented(text)
  if (pretty === undefined) return undefined
  if (offset >= text.length) return pretty + marker.trimEnd()
  let at = 0
  for (let index = 0; index < offset; index++) {
    const found = pretty.indexOf(text.charAt(index), at)
    if (found < 0) return undefined
    at = found + 1
  }
  return pretty.slice(0, at) + marker + pretty.slice(at)
}

/** opm's whole text: what is wrong, and where if the place was found. `offset` is in bytes. */
export function withMark(detail: string, offset: number, marked: string | undefined): string {
  return marked === undefined ? detail : `${detail} at offset ${offset} (indicated by <==)\n${marked}`
}

function indented(text: string): string | undefined {
  const pieces: string[] = []
  let depth = 0
  const newLine = (): string => `\n${'    '.repeat(depth)}`
  let length = 0
  let opened = false
  for (const token of tokensOf(text)) {
    const closes = token === ']' || token === '}'
    if (closes) {
      depth--
      if (!opened) pieces.push(newLine())
    } else if (opened) pieces.push(newLine())
    opened = token === '[' || token === '{'
    if (opened) depth++
    pieces.push(token)
    length += token.length + 4 * depth
    if (length > longest) return undefined
    if (token === ',') pieces.push(newLine())
    if (token === ':') pieces.push(' ')
  }
  return pieces.join('')
}

function* tokensOf(text: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match[0]
}
