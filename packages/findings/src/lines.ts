// The shortest edits between two texts, and the lines that they move.

/** Texts that differ in more lines are matched by the lines that occur exactly once in each. */
const maxDiffLineEdits = 600

/**
 * The number of the line in `to` that corresponds to line `line` (starting at 1) of `from`. Undefined if no line
 * corresponds.
 */
export type LineNumberMapper = (line: number) => number | undefined

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
        ? getFurthestLineOnDiagonal(reach, diagonal + 1)
        : getFurthestLineOnDiagonal(reach, diagonal - 1) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++
      next.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length)
        return backtrackLineEdits(steps, old.length, now.length)
    }
    reach = next
  }
  return undefined
}

function getFurthestLineOnDiagonal(reach: ReadonlyMap<number, number>, diagonal: number): number {
  return reach.get(diagonal) ?? -1
}

function shouldTakeInsertionStep(reach: ReadonlyMap<number, number>, diagonal: number, count: number) {
  return (
    diagonal === -count ||
    (diagonal !== count &&
      getFurthestLineOnDiagonal(reach, diagonal - 1) < getFurthestLineOnDiagonal(reach, diagonal + 1))
  )
}

function backtrackLineEdits(steps: readonly ReadonlyMap<number, number>[], oldEnd: number, newEnd: number) {
  const edits: LineEdit[] = []
  let [x, y] = [oldEnd, newEnd]
  for (let count = steps.length - 1; count > 0; count--) {
    const reach = steps[count] ?? new Map<number, number>()
    const diagonal = x - y
    const down = shouldTakeInsertionStep(reach, diagonal, count)
    const from = down ? diagonal + 1 : diagonal - 1
    x = getFurthestLineOnDiagonal(reach, from)
    y = x - from
    edits.push({ old: x, new: y, kind: down ? '+' : '-' })
  }
  return edits.reverse()
}

// Maps the lines of one text to the lines of a related text, to show a location in a merge result at the corresponding line
// of the pull request. Corresponding lines are identical.

/** Matches lines in order. If the texts differ too much, matches only lines that occur exactly once in each. */
export function createLineNumberMapper(from: string, to: string): LineNumberMapper {
  const [old, now] = [from.split('\n'), to.split('\n')]
  const map = matchLinesByShortestEdits(old, now) ?? matchLinesByUniqueContent(old, now)
  return (line) => {
    const found = map.get(line - 1)
    return found === undefined ? undefined : found + 1
  }
}

function matchLinesByShortestEdits(old: readonly string[], now: readonly string[]) {
  const edits = findShortestEdits(old, now, maxDiffLineEdits)
  if (edits === undefined) return undefined
  const gone = new Set(edits.filter(({ kind }) => kind === '-').map((edit) => edit.old))
  const come = new Set(edits.filter(({ kind }) => kind === '+').map((edit) => edit.new))
  const map = new Map<number, number>()
  let at = 0
  for (let line = 0; line < old.length; line++) {
    if (gone.has(line)) continue
    while (come.has(at)) at++
    map.set(line, at++)
  }
  return map
}

function matchLinesByUniqueContent(old: readonly string[], now: readonly string[]) {
  const positions = indexUniqueLines(now)
  return new Map(
    [...indexUniqueLines(old)].flatMap(([text, line]) => {
      const position = positions.get(text)
      return position === undefined ? [] : [[line, position] as const]
    }),
  )
}

function indexUniqueLines(lines: readonly string[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>()
  const repeated = new Set<string>()
  lines.forEach((line, at) => {
    if (first.has(line)) repeated.add(line)
    else first.set(line, at)
  })
  for (const line of repeated) first.delete(line)
  return first
}
