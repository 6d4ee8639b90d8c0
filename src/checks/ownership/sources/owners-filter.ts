// The file patterns of OWNERS filters. Supports only literal text, `.*`, `\.`, and anchors instead of full RE2 syntax,
// so that authors of OWNERS files cannot cause slow searches.

/** The path is relative to the OWNERS file's directory. */
export type OwnersPathFilter = (relative: string) => boolean

const unsupportedCharPattern = /[\\.+*?()|[\]{}^$]/

/** Undefined if the pattern is not supported. Matching is linear in the path. */
export function parsePathFilter(pattern: string): OwnersPathFilter | undefined {
  const anchoredStart = pattern.startsWith('^')
  const anchoredEnd = pattern.endsWith('$') && !pattern.endsWith('\\$')
  const body = pattern.slice(anchoredStart ? 1 : 0, anchoredEnd ? -1 : undefined)
  const pieces: string[] = ['']
  for (let at = 0; at < body.length; at += 1) {
    const char = body.charAt(at)
    if (char === '.' && body.charAt(at + 1) === '*') {
      pieces.push('')
      at += 1
    } else if (char === '\\' && at + 1 < body.length && unsupportedCharPattern.test(body.charAt(at + 1))) {
      pieces.push(pieces.pop() + body.charAt(at + 1))
      at += 1
    } else if (unsupportedCharPattern.test(char)) return undefined
    else pieces.push(pieces.pop() + char)
  }
  return (relative) => isFilterMatch(relative, pieces, anchoredStart, anchoredEnd)
}

function isFilterMatch(text: string, pieces: readonly string[], start: boolean, end: boolean): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) {
    if (start && end) return text === first
    if (start) return text.startsWith(first)
    return end ? text.endsWith(first) : text.includes(first)
  }
  let from = start ? (text.startsWith(first) ? first.length : -1) : findLiteralEnd(text, first, 0)
  for (const piece of pieces.slice(1, -1)) if (from >= 0) from = findLiteralEnd(text, piece, from)
  if (from < 0) return false
  return end
    ? text.length - last.length >= from && text.endsWith(last)
    : findLiteralEnd(text, last, from) >= 0
}

function findLiteralEnd(text: string, piece: string, from: number): number {
  const at = text.indexOf(piece, from)
  return at < 0 ? -1 : at + piece.length
}
