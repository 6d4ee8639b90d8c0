// Lists names in a sentence. Unescaped: messages/ escapes for every medium.

const shown = 5

/** `a`, `a or b`, `a, b or c`, `a, b, c, d, e or 4 others`; `a maintainer` for an empty list. */
export function nameList(names: readonly string[]): string {
  const [first] = names
  if (first === undefined) return 'a maintainer'
  if (names.length === 1) return first
  const listed = names.length > shown ? names.slice(0, shown) : names.slice(0, -1)
  const last = names.length > shown ? `${names.length - shown} others` : names.at(-1)
  return `${listed.join(', ')} or ${last}`
}
