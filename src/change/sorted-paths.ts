// Looking a path up among sorted ones: trees have tens of thousands.

/** Where the first of the sorted paths stands that is not before `path`; their number where all are. */
export function firstNotBefore<Entry>(
  sorted: readonly Entry[],
  path: string,
  pathOf: (entry: Entry) => string,
): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = sorted[middle]
    if (entry !== undefined && pathOf(entry) < path) low = middle + 1
    else high = middle
  }
  return low
}
