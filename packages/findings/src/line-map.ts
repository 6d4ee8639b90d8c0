// Maps the lines of one text to the lines of a related text, to show a location in a merge result at the corresponding line
// of the pull request. Corresponding lines are identical.
import { findShortestEdits } from './shortest-edits.ts'

/** Texts that differ in more lines are matched by the lines that occur exactly once in each. */
const maxLineEdits = 600

/**
 * The number of the line in `to` that corresponds to line `line` (starting at 1) of `from`. Undefined if no line
 * corresponds.
 */
export type LineNumberMapper = (line: number) => number | undefined

/** Matches lines in order. If the texts differ too much, matches only lines that occur exactly once in each. */
export function createLineNumberMapper(from: string, to: string): LineNumberMapper {
  const [old, now] = [from.split('\n'), to.split('\n')]
  const map = matchLinesByShortestEdits(old, now) ?? matchLinesByUniqueContent(old, now)
  return (line) => {
    const found = map.get(line - 1)
    return found === undefined ? undefined : found + 1
  }
}

function matchLinesByShortestEdits(
  old: readonly string[],
  now: readonly string[],
): ReadonlyMap<number, number> | undefined {
  const edits = findShortestEdits(old, now, maxLineEdits)
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

function matchLinesByUniqueContent(
  old: readonly string[],
  now: readonly string[],
): ReadonlyMap<number, number> {
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
