// Which known name someone probably meant. Never decides that a name is wrong.

/** How far apart two names may be: a third of the shorter one, but no more than two slips. */
const mostSlips = 2

/** A hint is worth no more: with thousands of names the first ones are compared. */
const mostCompared = 500

/**
 * The nearest of the candidates, when near enough to be a slip: letters swapped, left out, added or wrong, case and
 * separators aside. The first of equally near ones; undefined when none is near.
 */
export function similarName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Infinity
  const plain = simplified(name.slice(0, 1000))
  let compared = 0
  for (const candidate of candidates) {
    if (candidate === name) continue
    if (Math.abs(candidate.length - name.length) > name.length) continue
    if (compared++ >= mostCompared) break
    const other = simplified(candidate.slice(0, 1000))
    const allowed = Math.min(mostSlips, Math.floor(Math.min(plain.length, other.length) / 3))
    if (Math.abs(plain.length - other.length) > allowed) continue
    const slips = editDistance(plain, other)
    if (slips <= allowed && slips < least) {
      least = slips
      best = candidate
    }
  }
  return best
}

function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '')
}

/** Edits that turn one text into the other; two neighbours that changed places are one edit. Bounded to long names' first 100 characters. */
function editDistance(a: string, b: string): number {
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
