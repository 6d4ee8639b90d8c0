// Computes the fewest lines to remove and add to turn one text into another. Treats lines as opaque.

export interface LineEdit {
  /** Line in the old text (for an added line, the line before which it is added) and in the new text, starting at 0. */
  readonly old: number
  readonly new: number
  readonly kind: '-' | '+'
}

/** Myers' greedy algorithm: the fewest removed and added lines, in order. Undefined if there are more than `most`. */
export function findShortestEdits(
  old: readonly string[],
  now: readonly string[],
  maxEdits: number,
): readonly LineEdit[] | undefined {
  const steps: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let count = 0; count <= maxEdits; count++) {
    steps.push(reach)
    const next = new Map(reach)
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = shouldTakeInsertionStep(reach, diagonal, count)
        ? getFurthestReachedOldLine(reach, diagonal + 1)
        : getFurthestReachedOldLine(reach, diagonal - 1) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++
      next.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length) return backtrackEdits(steps, old.length, now.length)
    }
    reach = next
  }
  return undefined
}

function getFurthestReachedOldLine(reach: ReadonlyMap<number, number>, diagonal: number): number {
  return reach.get(diagonal) ?? -1
}

function shouldTakeInsertionStep(
  reach: ReadonlyMap<number, number>,
  diagonal: number,
  count: number,
): boolean {
  return (
    diagonal === -count ||
    (diagonal !== count &&
      getFurthestReachedOldLine(reach, diagonal - 1) < getFurthestReachedOldLine(reach, diagonal + 1))
  )
}

function backtrackEdits(
  steps: readonly ReadonlyMap<number, number>[],
  oldEnd: number,
  newEnd: number,
): readonly LineEdit[] {
  const edits: LineEdit[] = []
  let [x, y] = [oldEnd, newEnd]
  for (let count = steps.length - 1; count > 0; count--) {
    const reach = steps[count] ?? new Map<number, number>()
    const diagonal = x - y
    const down = shouldTakeInsertionStep(reach, diagonal, count)
    const from = down ? diagonal + 1 : diagonal - 1
    x = getFurthestReachedOldLine(reach, from)
    y = x - from
    edits.push({ old: x, new: y, kind: down ? '+' : '-' })
  }
  return edits.reverse()
}
