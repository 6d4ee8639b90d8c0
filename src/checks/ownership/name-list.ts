// Lists names in a sentence. Does not escape them, because report/ escapes for every medium.

const maxListedNames = 5

/** `a`, `a or b`, `a, b or c`, `a, b, c, d, e or 4 others`; `a maintainer` for an empty list. */
export function formatNameList(names: readonly string[], conjunction: 'and' | 'or' = 'or'): string {
  const [first] = names
  if (first === undefined) return 'a maintainer'
  if (names.length === 1) return first
  const listed = names.length > maxListedNames ? names.slice(0, maxListedNames) : names.slice(0, -1)
  const last = names.length > maxListedNames ? `${names.length - maxListedNames} others` : names.at(-1)
  return `${listed.join(', ')} ${conjunction} ${last}`
}
