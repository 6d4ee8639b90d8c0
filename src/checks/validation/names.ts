// Finds the known name that the author probably intended.

/** The maximum number of edits between two similar names. Also limited to a third of the shorter name. */
const maxEditDistance = 2

/** The maximum number of candidates to compare, to limit the cost of a hint. */
const maxSimilarNameCandidates = 500

/**
 * The most similar candidate within the limits, ignoring case and separators. Returns the first of equally similar
 * candidates, and undefined if none is similar.
 */
export function findSimilarName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let minDistance = Infinity
  const plain = normalizeNameForComparison(name.slice(0, 1000))
  let compared = 0
  for (const candidate of candidates) {
    if (candidate === name) continue
    if (Math.abs(candidate.length - name.length) > name.length) continue
    if (compared++ >= maxSimilarNameCandidates) break
    const other = normalizeNameForComparison(candidate.slice(0, 1000))
    const allowed = Math.min(maxEditDistance, Math.floor(Math.min(plain.length, other.length) / 3))
    if (Math.abs(plain.length - other.length) > allowed) continue
    const slips = computeEditDistance(plain, other)
    if (slips <= allowed && slips < minDistance) {
      minDistance = slips
      best = candidate
    }
  }
  return best
}

function normalizeNameForComparison(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '')
}

/** Number of edits; a swap of neighbors is one. Compares the first 100 characters. */
export function computeEditDistance(a: string, b: string): number {
  const from = a.slice(0, 100)
  const to = b.slice(0, 100)
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}

/** `a, b, c`; of more than `most` names the first ones, `and 12 more`. */
export function formatTruncatedNames(names: readonly string[], maxNames = 5): string {
  return names.length <= maxNames
    ? names.join(', ')
    : `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more`
}
