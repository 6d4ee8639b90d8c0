// Binary search in sorted paths, because trees have tens of thousands of paths.

/**
 * Returns the first index at or after `start` whose path is not before `path`, or the length if there is no such path.
 */
export function findLowerBound<Entry>(
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

export function hasPath(sorted: readonly string[], path: string): boolean {
  return sorted[findLowerBound(sorted, path, returnPathUnchanged)] === path
}

/** Whether any path is below the directory. All paths are below ''. */
export function hasPathUnder(sorted: readonly string[], directory: string): boolean {
  if (directory === '') return sorted.length > 0
  const prefix = `${directory}/`
  return sorted[findLowerBound(sorted, prefix, returnPathUnchanged)]?.startsWith(prefix) === true
}

export function findPathsUnder(sorted: readonly string[], directory: string): readonly string[] {
  if (directory === '') return sorted
  // '0' follows the slash in ASCII.
  return sorted.slice(
    findLowerBound(sorted, `${directory}/`, returnPathUnchanged),
    findLowerBound(sorted, `${directory}0`, returnPathUnchanged),
  )
}

const returnPathUnchanged = (path: string): string => path
