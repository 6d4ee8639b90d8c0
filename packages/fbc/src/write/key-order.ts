// The order in which go-yaml v2 writes the keys of a mapping. Letters sort after everything else, numbers in names sort
// by value (`v9` before `v10`), and other characters sort by code point.

const letterPattern = /^\p{L}$/u
const digitPattern = /^\p{Nd}$/u

/** Compares two keys. The order is total and stable for any strings. */
export function compareYamlKeys(a: string, b: string): number {
  const left = [...a]
  const right = [...b]
  for (let at = 0; at < left.length && at < right.length; at++) {
    const [one = '', other = ''] = [left[at], right[at]]
    if (one === other) continue
    const [isLetter, otherIsLetter] = [letterPattern.test(one), letterPattern.test(other)]
    if (isLetter && otherIsLetter) return getCodePoint(one) - getCodePoint(other)
    if (isLetter || otherIsLetter) return otherIsLetter ? -1 : 1
    const [first, second] = [parseNaturalSortNumber(left, right, at), parseNaturalSortNumber(right, left, at)]
    if (first.value !== second.value) return first.value < second.value ? -1 : 1
    return first.end - second.end || getCodePoint(one) - getCodePoint(other)
  }
  return left.length - right.length
}

/**
 * The number that starts at `at`. If either string continues with a zero after a nonzero digit, the preceding digits
 * count as a leading one, so that `10` and `1` are compared as numbers of different length.
 */
function parseNaturalSortNumber(
  text: readonly string[],
  other: readonly string[],
  at: number,
): { value: bigint; end: number } {
  let value = 0n
  if (text[at] === '0' || other[at] === '0')
    for (let before = at - 1; before >= 0 && digitPattern.test(text[before] ?? ''); before--)
      if (text[before] !== '0') {
        value = 1n
        break
      }
  let end = at
  for (; end < text.length && digitPattern.test(text[end] ?? ''); end++)
    // As wide as Go's int64, which wraps around.
    value = BigInt.asIntN(64, value * 10n + BigInt(getCodePoint(text[end] ?? '') - 0x30))
  return { value, end }
}

function getCodePoint(character: string): number {
  return character.codePointAt(0) ?? 0
}
