/** Returns at most three names, closest first, that differ in few letters or contain the input. */
export function findClosestNames(typed: string, names: readonly string[]): string[] {
  const maxDistance = Math.max(2, Math.floor(typed.length / 3))
  return names
    .map((name) => ({
      name,
      far: typed.length > 2 && name.includes(typed) ? 0 : computeEditDistance(typed, name),
    }))
    .filter(({ far }) => far <= maxDistance)
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** Levenshtein distance. */
function computeEditDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const line = [row]
    for (let at = 1; at <= b.length; at++)
      line.push(
        Math.min(
          (above[at] ?? 0) + 1,
          (line[at - 1] ?? 0) + 1,
          (above[at - 1] ?? 0) + Number(a[row - 1] !== b[at - 1]),
        ),
      )
    above = line
  }
  return above[b.length] ?? 0
}
