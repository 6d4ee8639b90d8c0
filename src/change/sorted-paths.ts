// Looking a path up among sorted ones: trees have tens of thousands.

/** Where the first of the sorted paths stands, from `start` on, that is not before `path`; their number where all are. */
export function firstNotBefore<Entry>(
  sorted: readonly Entry[],
  path: string,
  pathOf: (entry: Entry) => string,
  start = 0,
): number {
  let low = start
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = sorted[middle]
    if (entry !== undefined && pathOf(entry) < path) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether a path is one of the sorted ones. */
export function hasPath(sorted: readonly string[], path: string): boolean {
  return sorted[firstNotBefore(sorted, path, itself)] === path
}

/** Whether one of the sorted paths lies below a directory; every path lies below ''. */
export function hasBelow(sorted: readonly string[], directory: string): boolean {
  if (directory === '') return sorted.length > 0
  const prefix = `${directory}/`
  return sorted[firstNotBefore(sorted, prefix, itself)]?.startsWith(prefix) === true
}

/** Those of the sorted paths that lie below a directory: they stand together. */
export function pathsBelow(sorted: readonly string[], directory: string): readonly string[] {
  if (directory === '') return sorted
  // '0' comes right after the slash.
  return sorted.slice(
    firstNotBefore(sorted, `${directory}/`, itself),
    firstNotBefore(sorted, `${directory}0`, itself),
  )
}

const itself = (path: string): string => path
