// Formats JSON for an opm error, with ` <== ` at the error.

const jsonErrorMarker = ' <== '

/** Limits indentation: ten thousand levels would take a hundred megabytes. */
const maxMarkedJsonLength = 1 << 23

/**
 * Indents `text` by four and marks the place after its first `offset` characters. Returns undefined where opm cannot
 * find the place: it searches for each character in turn, even whitespace that indenting removed.
 */
export function markJsonError(text: string, offset: number): string | undefined {
  const pretty = indentJson(text)
  if (pretty === undefined) return undefined
  if (offset >= text.length) return pretty + jsonErrorMarker.trimEnd()
  let at = 0
  for (let index = 0; index < offset; index++) {
    const found = pretty.indexOf(text.charAt(index), at)
    if (found < 0) return undefined
    at = found + 1
  }
  return pretty.slice(0, at) + jsonErrorMarker + pretty.slice(at)
}

/** opm's full message: the error, and its place if found. `offset` is in bytes. */
export function formatJsonErrorWithMarker(
  detail: string,
  offset: number,
  marked: string | undefined,
): string {
  return marked === undefined ? detail : `${detail} at offset ${offset} (indicated by <==)\n${marked}`
}

function indentJson(text: string): string | undefined {
  const pieces: string[] = []
  let depth = 0
  const newLine = (): string => `\n${'    '.repeat(depth)}`
  let length = 0
  let opened = false
  for (const token of tokenizeJson(text)) {
    const closes = token === ']' || token === '}'
    if (closes) {
      depth--
      if (!opened) pieces.push(newLine())
    } else if (opened) pieces.push(newLine())
    opened = token === '[' || token === '{'
    if (opened) depth++
    pieces.push(token)
    length += token.length + 4 * depth
    if (length > maxMarkedJsonLength) return undefined
    if (token === ',') pieces.push(newLine())
    if (token === ':') pieces.push(' ')
  }
  return pieces.join('')
}

function* tokenizeJson(text: string): Generator<string> {
  const pattern = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match[0]
}
